// Where the bytes of tensors are read from: a file, mapped or not, or memory.
//
// Threads: a source is immutable and read from any thread at once. Lifetime: whoever reads shares it;
// a memory source's bytes outlive it. Units: bytes. Errors: not_found, io_error (with the path).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "stoker/runtime/base/error.hpp"

namespace stoker::files {

/// Fills the span with the bytes that come next, or fails.
using Pull = std::function<Result<void>(std::span<std::byte>)>;
/// Takes the bytes that come next.
using Push = std::function<Result<void>(std::span<const std::byte>)>;

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  /// Bytes from `offset` on; io_error beyond the end.
  [[nodiscard]] virtual Result<void> read(std::uint64_t offset,
                                          std::span<std::byte> target) const = 0;
  /// All of the bytes where they lie, as long as the source lives; empty if only read() reaches them.
  [[nodiscard]] virtual std::span<const std::byte> view() const noexcept { return {}; }
  /// Whether the file was written to since it was opened, as its size and time tell. A file that another one has
  /// replaced was not.
  [[nodiscard]] virtual bool has_changed() const noexcept { return false; }
  /// Tells a file from all others of this machine, and from itself before and after it was written to: its device,
  /// number and size, and when it last changed. As it was when it was opened. Empty: it is no file, it has no name, or
  /// it was written to so shortly before it was opened that the next write might leave its times. What a program writes
  /// through a map may leave them, too, for as long as its pages are not written to the disk.
  [[nodiscard]] virtual std::string identity() const { return {}; }
  /// What was read here is not wanted again soon.
  virtual void forget(std::uint64_t /*offset*/, std::uint64_t /*bytes*/) const noexcept {}
  /// What a failure calls it.
  [[nodiscard]] virtual std::string name() const = 0;

  /// Reads on from `offset`, each time what follows. Precondition: the source outlives it.
  [[nodiscard]] Pull from(std::uint64_t offset) const;
};

/// A regular file. Mapped: pages are read when they are touched and belong to the page cache; a file
/// that is shortened meanwhile ends the process with SIGBUS. Not mapped: read() copies.
[[nodiscard]] Result<std::shared_ptr<const ByteSource>> open_source(
    const std::filesystem::path& path, bool mapped, std::string_view op);
/// What a descriptor reads, whose owner may close it afterwards: a regular file as a whole, mapped; of anything else
/// (a pipe) what comes until its end, copied. `most` bounds a copy: limit_exceeded.
[[nodiscard]] Result<std::shared_ptr<const ByteSource>> open_source(int descriptor,
                                                                    std::uint64_t most,
                                                                    std::string_view op);
[[nodiscard]] std::shared_ptr<const ByteSource> memory_source(std::span<const std::byte> bytes);

/// io_error: the bytes of `name` are not what `op` reads.
[[nodiscard]] Error damaged(std::string_view op, std::string_view name, std::string reason);
/// not_found or io_error for errno.
[[nodiscard]] Error file_error(std::string_view op, const std::filesystem::path& path, int error);

}  // namespace stoker::files
