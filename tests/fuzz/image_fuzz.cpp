// PNG and JPEG files, within limits: a PNG of what was decoded holds the same pixels.
#include "fuzz.hpp"
#include "stoker/pipeline/image/image_io.hpp"

namespace stoker::fuzz::image {

void run(Bytes bytes) {
  constexpr ImageLimits limits{
      .width = 2000, .height = 1500, .bytes = 1 << 18, .file_bytes = 1 << 20};
  const Result<Image> read = decode_image(bytes, limits);
  if (read.has_error()) return require_refusal(read.error());
  const TensorSpec& spec = read->spec;
  require(spec.dtype == DType::u8 && spec.shape.rank() == 3 && spec.bytes() == read->bytes.size(),
          "a picture's memory has the size of its spec");
  require(spec.shape[0] <= limits.height && spec.shape[1] <= limits.width &&
              spec.bytes() <= static_cast<std::size_t>(limits.bytes),
          "a picture is within the limits");
  const auto png = encode_image(ImageFormat::png, spec, read->bytes).value();
  const Image again = decode_image(png, limits).value();
  require(again.spec == spec && again.bytes == read->bytes, "PNG keeps every pixel");
  if (spec.shape[2] == 4) return;
  const auto jpeg = encode_image(ImageFormat::jpeg, spec, read->bytes).value();
  require(decode_image(jpeg, limits).value().spec == spec, "JPEG keeps the size");
}

}  // namespace stoker::fuzz::image
