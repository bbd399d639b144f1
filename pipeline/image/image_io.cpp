#include "stoker/pipeline/image/image_io.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "stoker/pipeline/image/image_codecs.hpp"

namespace stoker {
namespace {

class File {
 public:
  explicit File(int descriptor) noexcept : descriptor_{descriptor} {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int get() const noexcept { return descriptor_; }
  /// Whether the system had nothing to complain about in the end.
  [[nodiscard]] bool close() noexcept { return ::close(std::exchange(descriptor_, -1)) == 0; }

 private:
  int descriptor_;
};

Error file_error(std::string_view op, const std::filesystem::path& path, const std::string& what,
                 int cause) {
  const ErrorCode code = cause == ENOENT ? ErrorCode::not_found : ErrorCode::io_error;
  return {std::string{op},
          code,
          what + ": " + std::generic_category().message(cause),
          {{"path", path.string()}}};
}

bool write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return true;
}

/// Writes `bytes` beside `path` and renames the result; leaves nothing behind on failure.
Result<void> replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                          const CancelToken& stop) {
  constexpr int attempts = 100;  // others may be saving to the same name
  std::filesystem::path beside;
  int descriptor = -1;
  for (int i = 0; i < attempts && descriptor < 0; ++i) {
    beside = path;
    beside.replace_filename("." + path.filename().string() + "." + std::to_string(::getpid()) +
                            "-" + std::to_string(i) + ".tmp");
    descriptor = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) break;
  }
  if (descriptor < 0) return file_error("save_image", path, "cannot create", errno);

  File file{descriptor};
  const bool written = write_all(file.get(), bytes);
  int cause = written ? 0 : errno;
  if (!file.close() && cause == 0) cause = errno;
  const Result<void> wanted = stop.try_check();
  if (wanted && cause == 0 && std::rename(beside.c_str(), path.c_str()) != 0) cause = errno;
  if (wanted && cause == 0) return {};
  ::unlink(beside.c_str());
  if (!wanted) return wanted.error();
  return file_error("save_image", path, "cannot write", cause);
}

std::uint8_t to_byte(float value) noexcept {
  const float scaled = value * 255.0F + 0.5F;
  return static_cast<std::uint8_t>(scaled > 0.0F ? std::min(scaled, 255.0F) : 0.0F);
}

template <class T> std::vector<std::uint8_t> to_bytes(std::span<const std::byte> bytes) {
  std::vector<std::uint8_t> result(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < result.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    result[i] = to_byte(static_cast<float>(value));
  }
  return result;
}

Result<void> check_encodable(const TensorSpec& spec, std::span<const std::byte> bytes,
                             const ImageEncoding& encoding) {
  const Shape& shape = spec.shape;
  const auto is_image =
      shape.rank() == 3 && !shape.empty() && (shape[2] == 1 || shape[2] == 3 || shape[2] == 4);
  if (!is_image)
    return Error{"image",
                 ErrorCode::shape_mismatch,
                 "not an image [height, width, 1 | 3 | 4]: " + shape.to_string(),
                 {{"image", spec.to_string()}}};
  if (spec.dtype != DType::u8 && spec.dtype != DType::f32 && spec.dtype != DType::f16)
    return Error{"image",
                 ErrorCode::dtype_mismatch,
                 "images are u8, f32 or f16, not " + std::string{to_string(spec.dtype)},
                 {{"image", spec.to_string()}}};
  constexpr std::int64_t max_extent = 0x7fffffff;  // what PNG's header holds
  if (shape[0] > max_extent || shape[1] > max_extent)
    return Error{"image",
                 ErrorCode::limit_exceeded,
                 "more than 2^31 - 1 pixels a side",
                 {{"image", spec.to_string()}}};
  if (bytes.size() != spec.bytes())
    return Error{
        "image",
        ErrorCode::invalid_argument,
        "the data is not as long as the shape says",
        {{"expected", std::to_string(spec.bytes())}, {"got", std::to_string(bytes.size())}}};
  if (encoding.quality < 1 || encoding.quality > 100)
    return Error{"image",
                 ErrorCode::invalid_argument,
                 "quality must be 1 to 100",
                 {{"quality", std::to_string(encoding.quality)}}};
  if (encoding.level < 0 || encoding.level > 9)
    return Error{"image",
                 ErrorCode::invalid_argument,
                 "level must be 0 to 9",
                 {{"level", std::to_string(encoding.level)}}};
  return {};
}

}  // namespace

namespace codecs {

Error damaged(const char* format, const char* reason) {
  return {"image",
          ErrorCode::io_error,
          std::string{"torn or damaged "} + format + " file: " + reason,
          {{"format", format}}};
}

Result<void> check_limits(std::int64_t height, std::int64_t width, std::int64_t channels,
                          const ImageLimits& limits) {
  const std::string size = std::to_string(width) + "x" + std::to_string(height);
  const auto refused = [&](const char* reason, std::int64_t limit) {
    return Error{"image",
                 ErrorCode::limit_exceeded,
                 reason + size,
                 {{"limit", std::to_string(limit)}, {"size", size}}};
  };
  if (width > limits.width) return refused("the picture is too wide: ", limits.width);
  if (height > limits.height) return refused("the picture is too high: ", limits.height);
  // A product of headers' numbers may not fit 64 bits.
  if (height > limits.bytes / channels / width)
    return refused("the picture takes too many bytes: ", limits.bytes);
  return {};
}

Result<Image> allocate(const TensorSpec& spec) {
  Image image{spec, {}};
  try {
    image.bytes.resize(spec.bytes());
  } catch (const std::bad_alloc&) {
    return Error{"image",
                 ErrorCode::out_of_memory,
                 "no memory for the picture",
                 {{"requested", std::to_string(spec.bytes())}}};
  }
  return image;
}

}  // namespace codecs

std::optional<ImageFormat> image_format(std::span<const std::byte> file) noexcept {
  constexpr std::array<unsigned char, 8> png{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  constexpr std::array<unsigned char, 3> jpeg{0xff, 0xd8, 0xff};
  const auto begins_with = [&](const auto& signature) {
    return file.size() >= signature.size() &&
           std::memcmp(file.data(), signature.data(), signature.size()) == 0;
  };
  if (begins_with(png)) return ImageFormat::png;
  if (begins_with(jpeg)) return ImageFormat::jpeg;
  return std::nullopt;
}

std::optional<ImageFormat> image_format(const std::filesystem::path& name) {
  std::string extension = name.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (extension == ".png") return ImageFormat::png;
  if (extension == ".jpg" || extension == ".jpeg") return ImageFormat::jpeg;
  return std::nullopt;
}

namespace {

Result<ImageFormat> known_format(std::span<const std::byte> file, const ImageLimits& limits) {
  if (std::cmp_greater(file.size(), limits.file_bytes))
    return Error{
        "image",
        ErrorCode::limit_exceeded,
        "the file is too large",
        {{"limit", std::to_string(limits.file_bytes)}, {"bytes", std::to_string(file.size())}}};
  if (const auto format = image_format(file)) return *format;
  return Error{"image",
               ErrorCode::unsupported,
               "neither a PNG nor a JPEG file",
               {{"bytes", std::to_string(file.size())}}};
}

}  // namespace

Result<TensorSpec> image_spec(std::span<const std::byte> file, const ImageLimits& limits) {
  STOKER_ASSIGN(const ImageFormat format, known_format(file, limits));
  return format == ImageFormat::png ? codecs::spec_of_png(file, limits)
                                    : codecs::spec_of_jpeg(file, limits);
}

Result<Image> decode_image(std::span<const std::byte> file, const ImageLimits& limits,
                           const CancelToken& stop) {
  STOKER_ASSIGN(const ImageFormat format, known_format(file, limits));
  STOKER_TRY(stop.try_check());
  return format == ImageFormat::png ? codecs::decode_png(file, limits, stop)
                                    : codecs::decode_jpeg(file, limits);
}

Result<std::vector<std::byte>> encode_image(ImageFormat format, const TensorSpec& spec,
                                            std::span<const std::byte> bytes,
                                            const ImageEncoding& encoding,
                                            const CancelToken& stop) {
  STOKER_TRY(check_encodable(spec, bytes, encoding));
  STOKER_TRY(stop.try_check());
  std::vector<std::uint8_t> converted;
  if (spec.dtype == DType::f32) converted = to_bytes<float>(bytes);
  if (spec.dtype == DType::f16) converted = to_bytes<Half>(bytes);
  const std::uint8_t* data = spec.dtype == DType::u8
                                 ? reinterpret_cast<const std::uint8_t*>(bytes.data())
                                 : converted.data();
  const codecs::Pixels pixels{spec.shape[0], spec.shape[1], spec.shape[2], data};
  return format == ImageFormat::png ? codecs::encode_png(pixels, encoding.level, stop)
                                    : codecs::encode_jpeg(pixels, encoding.quality);
}

Result<std::vector<std::byte>> read_image_file(const std::filesystem::path& path,
                                               const ImageLimits& limits) {
  // A pipe without a writer would block open() for ever; regular files ignore O_NONBLOCK.
  const File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.get() < 0) return file_error("load_image", path, "cannot open", errno);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return file_error("load_image", path, "cannot read", errno);
  if (!S_ISREG(facts.st_mode))
    return Error{
        "load_image", ErrorCode::io_error, "not a regular file", {{"path", path.string()}}};
  if (facts.st_size > limits.file_bytes)
    return Error{"load_image",
                 ErrorCode::limit_exceeded,
                 "the file is too large",
                 {{"path", path.string()},
                  {"limit", std::to_string(limits.file_bytes)},
                  {"bytes", std::to_string(facts.st_size)}}};

  std::vector<std::byte> bytes(static_cast<std::size_t>(facts.st_size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error("load_image", path, "cannot read", errno);
    if (got == 0) break;  // somebody made it shorter; the decoder will notice
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

Result<Image> load_image(const std::filesystem::path& path, const ImageLimits& limits,
                         const CancelToken& stop) {
  STOKER_ASSIGN(const std::vector<std::byte> file, read_image_file(path, limits));
  auto image = decode_image(file, limits, stop);
  if (image.has_error()) return image.error().with("path", path.string());
  return image;
}

Result<void> save_image(const std::filesystem::path& path, const TensorSpec& spec,
                        std::span<const std::byte> bytes, const ImageEncoding& encoding,
                        const CancelToken& stop) {
  const auto format = image_format(path);
  if (!format)
    return Error{"save_image",
                 ErrorCode::invalid_argument,
                 "the name ends in none of .png, .jpg, .jpeg",
                 {{"path", path.string()}}};
  auto file = encode_image(*format, spec, bytes, encoding, stop);
  if (file.has_error()) return file.error().with("path", path.string());
  return replace_file(path, *file, stop);
}

}  // namespace stoker
