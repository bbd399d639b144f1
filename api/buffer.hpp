// Memory of a device: a dense row-major array of one dtype.
//
// A Buffer is a shared handle; the memory returns to the device's pool when the last handle is gone
// and the device is done with it. Buffers are mutable: the order in which commands were submitted
// is the order in which they see each other's writes.
//
// A default-constructed handle is empty: only assignment, destruction and operator bool are
// allowed.
//
// Threads: any. Units: offsets and sizes are bytes unless a name says elements.
//
// Errors: a call with bad input throws and changes nothing. Every call that queues work may throw
// released (after release()), closed (the system has stopped), device_lost and overloaded; further
// errors are listed at each call. Failures on the device are reported by the future or Command.
//
// Options: calls that queue work take a deadline, a cancellation token and points to wait for, as in
// `buffer.read<float>({.deadline = soon})`; see CommandOptions.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "stoker/actors/device/device_buffer.hpp"
#include "stoker/actors/device/read_target.hpp"
#include "stoker/api/command.hpp"
#include "stoker/runtime/base/shape.hpp"

namespace stoker {

class Device;

/// Memory of a buffer that the host reads in place: valid while `owner` is kept.
struct HostView {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(DeviceBuffer buffer) noexcept : buffer_{std::move(buffer)} {}

  [[nodiscard]] const TensorSpec& spec() const noexcept { return buffer_.spec(); }
  [[nodiscard]] const Shape& shape() const noexcept { return spec().shape; }
  [[nodiscard]] DType dtype() const noexcept { return spec().dtype; }
  /// Bytes.
  [[nodiscard]] std::size_t size() const noexcept { return spec().bytes(); }
  [[nodiscard]] std::size_t elements() const noexcept { return spec().elements(); }
  [[nodiscard]] Device device() const;

  /// Reads all elements as T. Throws dtype_mismatch unless dtype_of<T> is the buffer's dtype (bool
  /// is read as std::uint8_t); out_of_memory.
  template <class T>
  [[nodiscard]] Future<std::vector<T>> read(const CommandOptions& options = {}) const {
    return read<T>(0, elements(), options);
  }
  /// Reads `count` elements, starting at element `first`. Throws invalid_argument if they reach
  /// beyond the end.
  template <class T>
  [[nodiscard]] Future<std::vector<T>> read(std::size_t first, std::size_t count,
                                            const CommandOptions& options = {}) const {
    static_assert(!std::is_same_v<T, bool>, "read bool buffers as std::uint8_t");
    check_element_type("read", dtype_of<T>);
    auto target = std::make_shared<ReadTarget<T>>(checked_count("read", first, count));
    return target->result_of(
        start_read(target->bytes(), ReadTarget<T>::completion(target), first * sizeof(T), options));
  }
  /// Reads into the caller's memory instead of a new vector. `owner` keeps that memory alive until
  /// the device no longer writes to it, which after a cancel may be later than the command's end.
  /// If `owner` is null, the caller must keep it alive that long. Throws as read() does.
  template <class T>
  // NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved on
  Command read_into(std::span<T> target, std::shared_ptr<const void> owner, std::size_t first = 0,
                    const CommandOptions& options = {}) const {
    check_element_type("read", dtype_of<T>);
    static_cast<void>(checked_count("read", first, target.size()));
    return read_bytes_into(std::as_writable_bytes(target), std::move(owner), first * sizeof(T),
                           options);
  }
  Command read_bytes_into(std::span<std::byte> target, std::shared_ptr<const void> owner,
                          std::size_t offset = 0, const CommandOptions& options = {}) const;
  /// As read(), for any dtype. Throws invalid_argument beyond the end, out_of_memory.
  [[nodiscard]] Future<std::vector<std::byte>> read_bytes(const CommandOptions& options = {}) const;
  [[nodiscard]] Future<std::vector<std::byte>> read_bytes(std::size_t offset, std::size_t bytes,
                                                          const CommandOptions& options = {}) const;

  /// Ready when all writes queued before this call are done; holds the Error of the one that
  /// failed.
  [[nodiscard]] Future<> written(const CommandOptions& options = {}) const;
  /// The memory itself, without a copy. Blocks until it is written, so do not call it on a host's
  /// event loop. Later writes to the buffer are visible in it. Throws unsupported unless the
  /// device's info().host_addressable.
  [[nodiscard]] HostView host_view() const;

  /// Overwrites elements, starting at element `first`; `values` is copied before the call returns.
  /// Throws dtype_mismatch as read() does, invalid_argument beyond the end, out_of_memory.
  template <class T>
  Command write(std::span<const T> values, std::size_t first = 0,
                const CommandOptions& options = {}) const {
    check_element_type("write", dtype_of<T>);
    return write_bytes(std::as_bytes(values), first * sizeof(T), options);
  }
  template <class T>
  Command write(const std::vector<T>& values, std::size_t first = 0,
                const CommandOptions& options = {}) const {
    return write(std::span<const T>{values}, first, options);
  }
  /// As write(), for any dtype. Throws invalid_argument beyond the end, out_of_memory.
  Command write_bytes(std::span<const std::byte> bytes, std::size_t offset = 0,
                      const CommandOptions& options = {}) const;

  /// Sets every element to `value`: floats round to nearest even, bool is value != 0. Throws
  /// invalid_parameter if an integer dtype cannot hold it (a fraction, NaN, out of range).
  Command fill(double value, const CommandOptions& options = {}) const;

  /// Copies this buffer into `target`, which may be on another device. Throws shape_mismatch or
  /// dtype_mismatch unless their specs are equal.
  Command copy_to(const Buffer& target, const CommandOptions& options = {}) const;
  /// Copies `bytes` bytes between offsets. Throws invalid_argument beyond either end, or if both
  /// ranges are in one buffer and overlap.
  Command copy_to(const Buffer& target, std::size_t offset, std::size_t target_offset,
                  std::size_t bytes, const CommandOptions& options = {}) const;

  /// Ends the use of the buffer: every later call through any of its handles throws `released`.
  /// Work that was already submitted is not affected.
  void release() const;
  [[nodiscard]] bool released() const noexcept;

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(buffer_); }
  [[nodiscard]] const DeviceBuffer& handle() const noexcept { return buffer_; }
  /// Whether both handles refer to the same buffer.
  friend bool operator==(const Buffer& a, const Buffer& b) noexcept {
    return a.buffer_ == b.buffer_;
  }

 private:
  /// As DeviceClient::read_into(), but throws. Returns the command that reads.
  [[nodiscard]] boost::intrusive_ptr<FutureCore> start_read(
      std::span<std::byte> target, std::function<void(const Error* failure)> done,
      std::size_t offset, const CommandOptions& options) const;
  void check_element_type(std::string_view op, DType wanted) const;
  [[nodiscard]] std::size_t checked_count(std::string_view op, std::size_t first,
                                          std::size_t count) const;

  DeviceBuffer buffer_;
};

}  // namespace stoker
