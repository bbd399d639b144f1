// The two image codecs behind image_io.hpp. Each takes and gives whole files in memory.
//
// Both libraries are C: libpng reports errors by longjmp, so every function that it may jump out of
// holds plain data only, and its callbacks let no exception pass.
#pragma once

#include "stoker/pipeline/image/image_io.hpp"

namespace stoker::codecs {

/// u8 pixels in rows without padding.
struct Pixels {
  std::int64_t height;
  std::int64_t width;
  std::int64_t channels;
  const std::uint8_t* data;
};

/// What the header says, within the limits.
[[nodiscard]] Result<TensorSpec> spec_of_png(std::span<const std::byte> file,
                                             const ImageLimits& limits);
[[nodiscard]] Result<TensorSpec> spec_of_jpeg(std::span<const std::byte> file,
                                              const ImageLimits& limits);
[[nodiscard]] Result<Image> decode_png(std::span<const std::byte> file, const ImageLimits& limits,
                                       const CancelToken& stop);
[[nodiscard]] Result<Image> decode_jpeg(std::span<const std::byte> file, const ImageLimits& limits);
[[nodiscard]] Result<std::vector<std::byte>> encode_png(const Pixels& pixels, int level,
                                                        const CancelToken& stop);
[[nodiscard]] Result<std::vector<std::byte>> encode_jpeg(const Pixels& pixels, int quality);

/// io_error with the library's words.
[[nodiscard]] Error damaged(const char* format, const char* reason);
/// An image with its memory, or out_of_memory.
[[nodiscard]] Result<Image> allocate(const TensorSpec& spec);
/// limit_exceeded if the limits forbid this size.
[[nodiscard]] Result<void> check_limits(std::int64_t height, std::int64_t width,
                                        std::int64_t channels, const ImageLimits& limits);

}  // namespace stoker::codecs
