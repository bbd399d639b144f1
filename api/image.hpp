// Pictures: PNG and JPEG, decoded from memory and encoded to it, or read from files and written there.
//
//     using namespace stoker;
//     Future<Buffer> photo = image::decode(system, device, std::move(request_body));
//     Future<std::vector<std::byte>> file = image::encode_png(system, edges, {.level = 1});
//
// A decoded picture is u8 [height, width, channels] with 1, 3 or 4 channels; u8, or f32 and f16 in 0–1,
// are encoded. pipeline/image/image_io.hpp says what becomes of palettes, profiles and the like.
//
// Two forms of each: one that computes on the calling thread, and one that takes the system, returns at
// once and computes on the pool of run_blocking(). Codecs cost more processor time than what most programs
// do with the pictures, so an event loop or an actor calls the second.
//
// Input is not trusted: limits are checked by what the file's header says, before memory for its pixels
// is taken.
//
// Threads: any. Lifetime: the second form owns what it was given; it ends with `closed` if the system
// stops before it is its turn. Errors: the first form throws io_error (torn or damaged), unsupported
// (another format), limit_exceeded, shape_mismatch, dtype_mismatch, invalid_argument, out_of_memory and
// what a token was cancelled with. Of the second form the call throws overloaded and closed, and what is
// wrong with a buffer; the rest is its future's.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/api/buffer.hpp"
#include "stoker/pipeline/image/image_io.hpp"

namespace stoker {
class System;
}

namespace stoker::image {

struct DecodeOptions {
  ImageLimits limits = {};
  /// Ends it with the token's cause: PNG from row to row, JPEG before it is begun.
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

/// Pixels in memory, row by row without gaps. Refers to them.
struct Pixels {
  Pixels(const TensorSpec& what, std::span<const std::byte> memory) : spec{what}, bytes{memory} {}
  Pixels(const Image& picture)  // NOLINT(google-explicit-constructor)
      : spec{picture.spec}, bytes{picture.bytes} {}
  TensorSpec spec;
  std::span<const std::byte> bytes;
};

/// A file in memory that an asynchronous call keeps for as long as it needs it.
class File {
 public:
  File(std::vector<std::byte> bytes);  // NOLINT(google-explicit-constructor)
  File(std::string bytes);             // NOLINT(google-explicit-constructor)
  /// `owner` keeps the bytes.
  File(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) noexcept
      : bytes_{bytes}, owner_{std::move(owner)} {}
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
};

// On the calling thread ---------------------------------------------------------------------------
/// What the file would decode to, by its header.
[[nodiscard]] TensorSpec spec_of(std::span<const std::byte> file, const ImageLimits& limits = {});
[[nodiscard]] Image decode(std::span<const std::byte> file, const DecodeOptions& options = {});
[[nodiscard]] std::vector<std::byte> encode_png(const Pixels& pixels,
                                                const PngOptions& options = {});
[[nodiscard]] std::vector<std::byte> encode_jpeg(const Pixels& pixels,
                                                 const JpegOptions& options = {});
/// A PNG or JPEG file, by its signature. Also throws not_found.
[[nodiscard]] Image load(const std::filesystem::path& path, const DecodeOptions& options = {});
/// By the extension of `path`. The file appears complete or not at all.
void save(const std::filesystem::path& path, const Pixels& pixels,
          const ImageEncoding& encoding = {}, const CancelToken& cancel = {});

// On the system's pool ----------------------------------------------------------------------------
[[nodiscard]] Future<Image> decode(const System& system, File file, DecodeOptions options = {});
/// Into a new buffer of the device.
[[nodiscard]] Future<Buffer> decode(const System& system, const Device& device, File file,
                                    DecodeOptions options = {});
/// What the buffer holds after the commands that were submitted before.
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
