#include <turbojpeg.h>

#include <memory>
#include <type_traits>

#include "stoker/pipeline/image/image_codecs.hpp"

namespace stoker::codecs {
namespace {

struct Destroy {
  void operator()(void* handle) const noexcept { tjDestroy(handle); }
};
using Handle = std::unique_ptr<void, Destroy>;

constexpr int max_jpeg_extent = 65'500;

Error no_memory() { return {"image", ErrorCode::out_of_memory, "no memory for a JPEG codec"}; }

Result<TensorSpec> read_header(const Handle& handle, std::span<const std::byte> file,
                               const ImageLimits& limits) {
  const auto* data = reinterpret_cast<const unsigned char*>(file.data());
  int width = 0;
  int height = 0;
  int subsampling = 0;
  int colours = 0;
  if (tjDecompressHeader3(handle.get(), data, file.size(), &width, &height, &subsampling,
                          &colours) != 0)
    return damaged("JPEG", tjGetErrorStr2(handle.get()));
  if (colours == TJCS_CMYK || colours == TJCS_YCCK)
    return Error{"image",
                 ErrorCode::unsupported,
                 "JPEG: CMYK colours; convert the file to RGB",
                 {{"feature", "CMYK"}}};
  // A file of tables only, or one that ends before the frame, is a header without a picture.
  if (width < 1 || height < 1) return damaged("JPEG", "the file holds no picture");
  const int channels = colours == TJCS_GRAY ? 1 : 3;
  STOKER_TRY(check_limits(height, width, channels, limits));
  return TensorSpec{DType::u8, Shape{height, width, channels}};
}

}  // namespace

Result<TensorSpec> spec_of_jpeg(std::span<const std::byte> file, const ImageLimits& limits) {
  const Handle handle{tjInitDecompress()};
  if (!handle) return no_memory();
  return read_header(handle, file, limits);
}

Result<Image> decode_jpeg(std::span<const std::byte> file, const ImageLimits& limits) {
  const Handle handle{tjInitDecompress()};
  if (!handle) return no_memory();
  STOKER_ASSIGN(const TensorSpec spec, read_header(handle, file, limits));
  STOKER_ASSIGN(Image image, allocate(spec));
  // Without TJFLAG_STOPONWARNING a torn file decodes to a picture that is grey from there on.
  const int flags = TJFLAG_ACCURATEDCT | TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS;
  if (tjDecompress2(handle.get(), reinterpret_cast<const unsigned char*>(file.data()), file.size(),
                    reinterpret_cast<unsigned char*>(image.bytes.data()),
                    static_cast<int>(spec.shape[1]), 0, static_cast<int>(spec.shape[0]),
                    spec.shape[2] == 1 ? TJPF_GRAY : TJPF_RGB, flags) != 0)
    return damaged("JPEG", tjGetErrorStr2(handle.get()));
  return image;
}

Result<std::vector<std::byte>> encode_jpeg(const Pixels& pixels, int quality) {
  if (pixels.channels == 4)
    return Error{"image",
                 ErrorCode::invalid_argument,
                 "JPEG holds no alpha: save as PNG, or drop the fourth channel",
                 {{"channels", "4"}}};
  if (pixels.width > max_jpeg_extent || pixels.height > max_jpeg_extent)
    return Error{"image",
                 ErrorCode::limit_exceeded,
                 "JPEG holds at most 65500 pixels a side",
                 {{"limit", "65500"},
                  {"width", std::to_string(pixels.width)},
                  {"height", std::to_string(pixels.height)}}};
  const Handle handle{tjInitCompress()};
  if (!handle) return no_memory();

  const bool grey = pixels.channels == 1;
  // Who asks for high quality wants the colours of thin lines, too.
  const int subsampling = grey ? TJSAMP_GRAY : quality >= 90 ? TJSAMP_444 : TJSAMP_420;
  const auto width = static_cast<int>(pixels.width);
  const auto height = static_cast<int>(pixels.height);
  unsigned long size = tjBufSize(width, height, subsampling);
  std::vector<std::byte> file(size);
  auto* data = reinterpret_cast<unsigned char*>(file.data());
  if (tjCompress2(handle.get(), pixels.data, width, 0, height, grey ? TJPF_GRAY : TJPF_RGB, &data,
                  &size, subsampling, quality, TJFLAG_ACCURATEDCT | TJFLAG_NOREALLOC) != 0)
    return Error{"image", ErrorCode::io_error,
                 std::string{"JPEG: "} + tjGetErrorStr2(handle.get())};
  file.resize(size);
  return file;
}

}  // namespace stoker::codecs
