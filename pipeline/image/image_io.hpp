// Reads and writes PNG and JPEG images (image.hpp) in the layout of the image kernels. Programs use
// api/image.hpp.
//
// Input is not trusted: a file that is truncated, damaged, of another format or larger than
// ImageLimits is an error, and nothing of the size a header claims is allocated before the limits
// are checked. Decoding needs memory of the picture's size; three times that for a progressive
// JPEG. All functions are thread-safe and keep nothing between calls. They block on the file
// system. A token that is cancelled ends them with its cause: PNG from row to row, JPEG before it
// is begun.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "stoker/pipeline/image/image.hpp"
#include "stoker/runtime/base/error.hpp"
#include "stoker/runtime/futures/cancel.hpp"

namespace stoker {

/// What a whole file in memory decodes to, by its header. Errors: io_error (torn or damaged),
/// unsupported (another format, or a CMYK JPEG), limit_exceeded.
[[nodiscard]] Result<TensorSpec> image_spec(std::span<const std::byte> file,
                                            const ImageLimits& limits = {});
/// Decodes a whole file in memory; the signature decides the format. Errors: as image_spec().
[[nodiscard]] Result<Image> decode_image(std::span<const std::byte> file,
                                         const ImageLimits& limits = {},
                                         const CancelToken& stop = {});

/// Encodes [height, width, 1 | 3 | 4] of u8, or of f32 or f16 in 0–1 (clamped, rounded to nearest,
/// NaN becomes 0). JPEG holds no alpha. Errors: shape_mismatch, dtype_mismatch, invalid_argument,
/// limit_exceeded.
[[nodiscard]] Result<std::vector<std::byte>> encode_image(ImageFormat format,
                                                          const TensorSpec& spec,
                                                          std::span<const std::byte> bytes,
                                                          const ImageEncoding& encoding = {},
                                                          const CancelToken& stop = {});

/// The contents of a regular file. Errors: not_found, io_error with the system's reason,
/// limit_exceeded.
[[nodiscard]] Result<std::vector<std::byte>> read_image_file(const std::filesystem::path& path,
                                                             const ImageLimits& limits = {});
/// decode_image() of a regular file; also what read_image_file() says.
[[nodiscard]] Result<Image> load_image(const std::filesystem::path& path,
                                       const ImageLimits& limits = {},
                                       const CancelToken& stop = {});

/// encode_image() by the extension of `path`. The file appears complete or not at all: it is written
/// beside `path` under another name and then renamed over it.
[[nodiscard]] Result<void> save_image(const std::filesystem::path& path, const TensorSpec& spec,
                                      std::span<const std::byte> bytes,
                                      const ImageEncoding& encoding = {},
                                      const CancelToken& stop = {});

}  // namespace stoker
