// Pictures in the bytes of their files.
#include "stoker/api/image.hpp"
#include "stoker/api/onnx/core/operator.hpp"

namespace stoker::onnx::operators::images {
namespace {

/// Red, green, blue of a pixel of 1, 3 or 4 channels.
std::array<std::byte, 3> colours(const std::byte* pixel, std::int64_t channels) {
  if (channels < 3) return {pixel[0], pixel[0], pixel[0]};
  return {pixel[0], pixel[1], pixel[2]};
}

/// ITU-R BT.601 in 16 bits, as libjpeg and Pillow have it.
std::byte grey(const std::array<std::byte, 3>& rgb) {
  const auto part = [&](std::size_t i) { return std::to_integer<std::uint32_t>(rgb[i]); };
  return static_cast<std::byte>((part(0) * 19595 + part(1) * 38470 + part(2) * 7471 + 0x8000) >>
                                16);
}

/// u8 [height, width, 3 or 1]; what cannot be decoded is an empty matrix.
Values decode(Call& call) {
  const std::string format = call.node().text("pixel_format", "RGB");
  if (format != "RGB" && format != "BGR" && format != "Grayscale")
    call.refuse(ErrorCode::invalid_parameter, "pixel_format '" + format + "'");
  const Known file = call.known(0);
  Image picture;
  try {
    picture = image::decode(file.bytes());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::io_error && error.code() != ErrorCode::unsupported) throw;
    return {Known{ElementType::u8, Shape{0, 0, 0}, {}}};
  }
  const std::int64_t channels = picture.spec.shape[2];
  const std::int64_t pixels = picture.spec.shape[0] * picture.spec.shape[1];
  const std::int64_t wanted = format == "Grayscale" ? 1 : 3;
  std::vector<std::byte> bytes;
  bytes.reserve(static_cast<std::size_t>(pixels * wanted));
  for (std::int64_t i = 0; i < pixels; ++i) {
    const auto rgb = colours(picture.bytes.data() + i * channels, channels);
    if (format == "Grayscale")
      bytes.push_back(channels == 1 ? rgb[0] : grey(rgb));
    else if (format == "RGB")
      bytes.insert(bytes.end(), rgb.begin(), rgb.end());
    else
      bytes.insert(bytes.end(), rgb.rbegin(), rgb.rend());
  }
  return {Known{ElementType::u8, Shape{picture.spec.shape[0], picture.spec.shape[1], wanted},
                std::move(bytes)}};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "ImageDecoder",
             .since = {20},
             .types = alike(ElementType::u8),
             .attributes = {"pixel_format"},
             .lower = &decode});
}

}  // namespace stoker::onnx::operators::images
