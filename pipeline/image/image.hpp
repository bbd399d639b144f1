// The formats, limits and memory layout of pictures.
//
// A decoded image is u8 [height, width, channels] with 1 (grey), 3 (RGB) or 4 (RGB and straight
// alpha) channels, values as stored: no gamma is applied and embedded colour profiles are ignored,
// as is the orientation a camera notes in EXIF. Palettes are expanded, 16-bit samples are scaled to
// 8, grey with alpha becomes RGB with alpha.
//
// Values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "stoker/runtime/base/shape.hpp"

namespace stoker {

enum class ImageFormat : std::uint8_t { png, jpeg };

/// Limits of decoding, inclusive. Decoding a larger picture fails with limit_exceeded, which names
/// the limit and the actual value.
struct ImageLimits {
  std::int64_t width = 65'500;  ///< pixels
  std::int64_t height = 65'500;
  std::int64_t bytes = std::int64_t{1} << 30;  ///< of the decoded pixels: width x height x channels
  std::int64_t file_bytes = std::int64_t{1} << 30;
};

/// How a picture is encoded.
struct ImageEncoding {
  int quality = 90;  ///< of JPEG, 1 to 100; from 90 on colours keep their full resolution
  /// Of PNG, 0 (stored) to 9: zlib's effort. A photograph is hardly smaller at 6 than at 4, and takes
  /// twice as long.
  int level = 4;
};

/// A picture in memory: `bytes` holds spec.bytes() bytes.
struct Image {
  TensorSpec spec;
  std::vector<std::byte> bytes;
};

/// The format whose signature `file` begins with.
[[nodiscard]] std::optional<ImageFormat> image_format(std::span<const std::byte> file) noexcept;
/// The format that a name's extension (.png, .jpg, .jpeg, in any case) stands for.
[[nodiscard]] std::optional<ImageFormat> image_format(const std::filesystem::path& name);

}  // namespace stoker
