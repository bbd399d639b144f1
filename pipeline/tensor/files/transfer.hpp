// Bytes into a device's memory and out of it, piece by piece: the host never holds more than a few
// pieces of a tensor beside the tensor itself.
//
// Threads: any; each call but send() waits, so not on a host's event loop. Errors: what the device and the other
// end say.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "stoker/actors/device/device_buffer.hpp"
#include "stoker/pipeline/tensor/files/byte_source.hpp"
#include "stoker/runtime/futures/future.hpp"

namespace stoker {
class DeviceClient;
}  // namespace stoker

namespace stoker::files {

/// Bytes of one piece; a multiple of every element size.
inline constexpr std::size_t piece_bytes = std::size_t{16} << 20;

/// A new buffer with the bytes that `pull` gives, from first to last. bool becomes 0 or 1 whatever
/// was stored. A device that the host can address is filled in place.
[[nodiscard]] Result<DeviceBuffer> upload(DeviceClient& device, const TensorSpec& spec,
                                          const Pull& pull);

/// A new buffer with `data`. Returns when all of it was copied into staging memory, without waiting for the
/// device, which gives a piece's staging back when it has copied it: a device that keeps up needs a few
/// pieces, one that does not as many as there are. `copied` is told of each piece, by its offset and size,
/// once it is in staging memory. No bytes of bool but 0 and 1 are allowed.
[[nodiscard]] Result<DeviceBuffer> send(
    DeviceClient& device, const TensorSpec& spec, std::span<const std::byte> data,
    const std::function<void(std::size_t offset, std::size_t bytes)>& copied);

/// A buffer's bytes in order. The piece after the current one is read meanwhile.
class Download {
 public:
  explicit Download(DeviceBuffer buffer) noexcept : buffer_{std::move(buffer)} {}
  /// The next piece, good until the next call; empty at the end.
  [[nodiscard]] Result<std::span<const std::byte>> next();

 private:
  [[nodiscard]] Result<void> ask();

  const DeviceBuffer buffer_;
  std::uint64_t asked_ = 0;  // bytes
  Future<std::vector<std::byte>> coming_;
  std::vector<std::byte> piece_;
};

[[nodiscard]] Result<void> download(const DeviceBuffer& buffer, const Push& push);

}  // namespace stoker::files
