// Pictures: PNG and JPEG, decoded and encoded in memory, or read from and written to files.
//
//     using namespace stoker;
//     Future<Buffer> photo = image::decode(system, device, std::move(request_body));
//     Future<std::vector<std::byte>> file = image::encode_png(system, edges, {.level = 1});
//
// A decoded picture is u8 [height, width, channels] with 1, 3 or 4 channels. Encoders take u8, or
// f32 and f16 in 0–1. For palettes, profiles and the like see pipeline/image/image.hpp.
//
// Each function has two forms: one computes on the calling thread; the other takes the system,
// returns at once and computes on the pool of run_blocking(). Codecs are slow, so an event loop or
// an actor should call the second.
//
// Input is not trusted: the limits are checked against the file's header before memory for its
// pixels is allocated.
//
// Threads: any. Lifetime: the second form owns its arguments; it ends with `closed` if the system
// stops before it starts. Errors: the first form throws io_error (truncated or damaged),
// unsupported (another format), limit_exceeded, shape_mismatch, dtype_mismatch, invalid_argument,
// out_of_memory and the cause of a cancelled token. In the second form the call itself throws
// overloaded, closed, and errors of a buffer; its future holds the others.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/api/buffer.hpp"
#include "stoker/pipeline/image/image.hpp"
#include "stoker/runtime/futures/cancel_token.hpp"

namespace stoker {
class System;
}

namespace stoker::image {

struct DecodeOptions {
  ImageLimits limits = {};
  /// Cancels with the token's cause. PNG checks it at every row, JPEG only before it starts.
  CancelToken cancel = {};
};
struct PngOptions {
  int level = ImageEncoding{}.level;  ///< 0 (stored) to 9 (smallest, slowest)
  CancelToken cancel = {};            ///< as for decoding
};
struct JpegOptions {
  int quality = ImageEncoding{}.quality;  ///< 1 to 100
  CancelToken cancel = {};
};

/// A view of pixels in memory, row by row without gaps. The caller owns them.
struct Pixels {
  Pixels(const TensorSpec& what, std::span<const std::byte> memory) : spec{what}, bytes{memory} {}
  Pixels(const Image& picture)  // NOLINT(google-explicit-constructor)
      : spec{picture.spec}, bytes{picture.bytes} {}
  TensorSpec spec;
  std::span<const std::byte> bytes;
};

/// A file in memory, owned by the asynchronous call that takes it.
class File {
 public:
  File(std::vector<std::byte> bytes);  // NOLINT(google-explicit-constructor)
  File(std::string bytes);             // NOLINT(google-explicit-constructor)
  /// `owner` keeps the bytes alive.
  File(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) noexcept
      : bytes_{bytes}, owner_{std::move(owner)} {}
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
};

// On the calling thread ---------------------------------------------------------------------------
/// The spec that the file would decode to, read from its header.
[[nodiscard]] TensorSpec spec_of(std::span<const std::byte> file, const ImageLimits& limits = {});
[[nodiscard]] Image decode(std::span<const std::byte> file, const DecodeOptions& options = {});
[[nodiscard]] std::vector<std::byte> encode_png(const Pixels& pixels,
                                                const PngOptions& options = {});
[[nodiscard]] std::vector<std::byte> encode_jpeg(const Pixels& pixels,
                                                 const JpegOptions& options = {});
/// Reads a PNG or JPEG file; its signature decides which. Also throws not_found.
[[nodiscard]] Image load(const std::filesystem::path& path, const DecodeOptions& options = {});
/// Writes the format that the extension of `path` names. The file appears complete or not at all.
void save(const std::filesystem::path& path, const Pixels& pixels,
          const ImageEncoding& encoding = {}, const CancelToken& cancel = {});

// On the system's pool ----------------------------------------------------------------------------
[[nodiscard]] Future<Image> decode(const System& system, File file, DecodeOptions options = {});
/// Decodes into a new buffer of the device.
[[nodiscard]] Future<Buffer> decode(const System& system, const Device& device, File file,
                                    DecodeOptions options = {});
/// Encodes what the buffer holds after all commands submitted before this call.
[[nodiscard]] Future<std::vector<std::byte>> encode_png(const System& system, const Buffer& buffer,
                                                        PngOptions options = {});
[[nodiscard]] Future<std::vector<std::byte>> encode_png(const System& system, Image picture,
                                                        PngOptions options = {});
[[nodiscard]] Future<std::vector<std::byte>> encode_jpeg(const System& system, const Buffer& buffer,
                                                         JpegOptions options = {});
[[nodiscard]] Future<std::vector<std::byte>> encode_jpeg(const System& system, Image picture,
                                                         JpegOptions options = {});
[[nodiscard]] Future<Buffer> load(const System& system, const Device& device,
                                  std::filesystem::path path, DecodeOptions options = {});
[[nodiscard]] Future<void> save(const System& system, std::filesystem::path path,
                                const Buffer& buffer, ImageEncoding encoding = {},
                                CancelToken cancel = {});

}  // namespace stoker::image
