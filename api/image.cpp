#include "stoker/api/image.hpp"

#include "stoker/api/device.hpp"
#include "stoker/api/system.hpp"
#include "stoker/pipeline/image/image_io.hpp"

namespace stoker::image {
namespace {

using Encoded = std::vector<std::byte>;

Result<Buffer> upload(const Device& device, const Result<Image>& picture) {
  if (picture.has_error()) return picture.error();
  return device.buffer(picture->spec, picture->bytes);
}

void check(const Buffer& buffer) {
  if (buffer) return;
  throw Error{"image", ErrorCode::invalid_argument, "an empty buffer was passed"};
}

/// Calls use(bytes) on the pool with what the buffer holds by then.
template <class F>
auto with_contents(const System& system, const Buffer& buffer, const CancelToken& cancel, F use) {
  return system.blocking().run_after(
      [&] { return buffer.read_bytes({.cancel = cancel}); },
      [use = std::move(use)](const Result<Encoded>& bytes) -> decltype(use(Encoded{})) {
        if (bytes.has_error()) return bytes.error();
        return use(*bytes);
      });
}

Future<Encoded> encoded(const System& system, const Buffer& buffer, ImageFormat format,
                        const ImageEncoding& encoding, const CancelToken& cancel) {
  check(buffer);
  return with_contents(
      system, buffer, cancel,
      [format, spec = buffer.spec(), encoding, cancel](const Encoded& bytes) -> Result<Encoded> {
        return encode_image(format, spec, bytes, encoding, cancel);
      });
}

Future<Encoded> encoded(const System& system, Image picture, ImageFormat format,
                        const ImageEncoding& encoding, const CancelToken& cancel) {
  return system.run_blocking(
      [picture = std::move(picture), format, encoding, cancel]() -> Result<Encoded> {
        return encode_image(format, picture.spec, picture.bytes, encoding, cancel);
      });
}

}  // namespace

File::File(std::vector<std::byte> bytes) {
  const auto kept = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  bytes_ = *kept;
  owner_ = kept;
}

File::File(std::string bytes) {
  const auto kept = std::make_shared<const std::string>(std::move(bytes));
  bytes_ = std::as_bytes(std::span{*kept});
  owner_ = kept;
}

TensorSpec spec_of(std::span<const std::byte> file, const ImageLimits& limits) {
  return image_spec(file, limits).value();
}

Image decode(std::span<const std::byte> file, const DecodeOptions& options) {
  return decode_image(file, options.limits, options.cancel).value();
}

Encoded encode_png(const Pixels& pixels, const PngOptions& options) {
  return encode_image(ImageFormat::png, pixels.spec, pixels.bytes, {.level = options.level},
                      options.cancel)
      .value();
}

Encoded encode_jpeg(const Pixels& pixels, const JpegOptions& options) {
  return encode_image(ImageFormat::jpeg, pixels.spec, pixels.bytes, {.quality = options.quality},
                      options.cancel)
      .value();
}

Image load(const std::filesystem::path& path, const DecodeOptions& options) {
  return load_image(path, options.limits, options.cancel).value();
}

void save(const std::filesystem::path& path, const Pixels& pixels, const ImageEncoding& encoding,
          const CancelToken& cancel) {
  save_image(path, pixels.spec, pixels.bytes, encoding, cancel).value();
}

Future<Image> decode(const System& system, File file, DecodeOptions options) {
  return system.run_blocking([file = std::move(file), options = std::move(options)] {
    return decode_image(file.bytes(), options.limits, options.cancel);
  });
}

Future<Buffer> decode(const System& system, const Device& device, File file,
                      DecodeOptions options) {
  static_cast<void>(device.client());  // throws for an empty handle, here rather than in the future
  return system.run_blocking([file = std::move(file), device, options = std::move(options)] {
    return upload(device, decode_image(file.bytes(), options.limits, options.cancel));
  });
}

Future<Encoded> encode_png(const System& system, const Buffer& buffer, PngOptions options) {
  return encoded(system, buffer, ImageFormat::png, {.level = options.level}, options.cancel);
}

Future<Encoded> encode_png(const System& system, Image picture, PngOptions options) {
  return encoded(system, std::move(picture), ImageFormat::png, {.level = options.level},
                 options.cancel);
}

Future<Encoded> encode_jpeg(const System& system, const Buffer& buffer, JpegOptions options) {
  return encoded(system, buffer, ImageFormat::jpeg, {.quality = options.quality}, options.cancel);
}

Future<Encoded> encode_jpeg(const System& system, Image picture, JpegOptions options) {
  return encoded(system, std::move(picture), ImageFormat::jpeg, {.quality = options.quality},
                 options.cancel);
}

Future<Buffer> load(const System& system, const Device& device, std::filesystem::path path,
                    DecodeOptions options) {
  static_cast<void>(device.client());  // throws for an empty handle, here rather than in the future
  return system.run_blocking([device, path = std::move(path), options = std::move(options)] {
    return upload(device, load_image(path, options.limits, options.cancel));
  });
}

Future<void> save(const System& system, std::filesystem::path path, const Buffer& buffer,
                  ImageEncoding encoding, CancelToken cancel) {
  check(buffer);
  return with_contents(system, buffer, cancel,
                       [path = std::move(path), spec = buffer.spec(), encoding,
                        cancel](const Encoded& bytes) -> Result<void> {
                         return save_image(path, spec, bytes, encoding, cancel);
                       });
}

}  // namespace stoker::image
