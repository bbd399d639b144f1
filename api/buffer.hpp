// Memory of a device: a dense row-major array of one dtype.
//
// A Buffer is a shared handle; the memory returns to the device's pool when the last handle is gone
// and the device is done with it. Buffers are mutable: the order in which commands were submitted
// is the order in which they see each other's writes.
//
// A handle that was made without a buffer may only be assigned, destroyed and asked whether it has
// one.
//
// Threads: any. Units: offsets and sizes are bytes unless a name says elements.
//
// Errors: bad input is thrown by the call, which then has changed nothing. Every call that queues
// work may throw released (after release()), closed (the system has stopped), device_lost and
// overloaded; what more it may throw stands beside it. What happens on the device is in the future.
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

  /// All elements, as T. Throws dtype_mismatch unless dtype_of<T> is the buffer's dtype (bool is read
  /// as std::uint8_t), out_of_memory.
  template <class T>
  [[nodiscard]] Future<std::vector<T>> read(const CommandOptions& options = {}) const {
    return read<T>(0, elements(), options);
  }
  /// `count` elements from element `first` on. Throws invalid_argument beyond the end.
  template <class T>
  [[nodiscard]] Future<std::vector<T>> read(std::size_t first, std::size_t count,
                                            const CommandOptions& options = {}) const {
    static_assert(!std::is_same_v<T, bool>, "read bool buffers as std::uint8_t");
    check_element_type("read", dtype_of<T>);
    auto target = std::make_shared<ReadTarget<T>>(checked_count("read", first, count));
    return target->result_of(
        start_read(target->bytes(), ReadTarget<T>::completion(target), first * sizeof(T), options));
  }
  /// The same into memory of the caller's, which saves the vector. `owner` keeps that memory until
  /// the device will not write there any more: after a cancel that may be later than the command's
  /// end. Null: the caller sees to it. Throws as read() does.
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
  /// The same, whatever the dtype. Throws invalid_argument beyond the end, out_of_memory.
  [[nodiscard]] Future<std::vector<std::byte>> read_bytes(const CommandOptions& options = {}) const;
  [[nodiscard]] Future<std::vector<std::byte>> read_bytes(std::size_t offset, std::size_t bytes,
                                                          const CommandOptions& options = {}) const;

  /// Ready when everything queued before has written the buffer; fails with what failed there.
  [[nodiscard]] Future<> written(const CommandOptions& options = {}) const;
  /// The memory itself, once it is written: no copy. Later writes to the buffer show in it. Waits; not
  /// on a host's event loop. Throws unsupported unless the device's info().host_addressable.
  [[nodiscard]] HostView host_view() const;

  /// Overwrites elements from element `first` on; `values` is copied before the call returns. Throws
  /// dtype_mismatch as read() does, invalid_argument beyond the end, out_of_memory.
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
  /// The same, whatever the dtype; throws invalid_argument beyond the end, out_of_memory.
  Command write_bytes(std::span<const std::byte> bytes, std::size_t offset = 0,
                      const CommandOptions& options = {}) const;

  /// Sets every element to `value`: floats round to nearest even, bool is value != 0. Throws
  /// invalid_parameter if an integer cannot hold it (a fraction, NaN, out of its range).
  Command fill(double value, const CommandOptions& options = {}) const;

  /// Copies all of this into `target`, which may be on another device. Throws shape_mismatch or
  /// dtype_mismatch unless their specs are the same.
  Command copy_to(const Buffer& target, const CommandOptions& options = {}) const;
  /// Copies `bytes` bytes between offsets. Throws invalid_argument beyond an end, or if ranges of one
  /// buffer overlap.
  Command copy_to(const Buffer& target, std::size_t offset, std::size_t target_offset,
                  std::size_t bytes, const CommandOptions& options = {}) const;

  /// Ends the use of the buffer: every later call with any of its handles throws `released`. Work
  /// that was submitted before is not disturbed.
  void release() const;
  [[nodiscard]] bool released() const noexcept;

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(buffer_); }
  [[nodiscard]] const DeviceBuffer& handle() const noexcept { return buffer_; }
  /// Whether both handles are of the same memory.
  friend bool operator==(const Buffer& a, const Buffer& b) noexcept {
    return a.buffer_ == b.buffer_;
  }

 private:
  /// As DeviceClient::read_into(), throwing; the command that reads.
  [[nodiscard]] boost::intrusive_ptr<FutureCore> start_read(
      std::span<std::byte> target, std::function<void(const Error* failure)> done,
      std::size_t offset, const CommandOptions& options) const;
  void check_element_type(std::string_view op, DType wanted) const;
  [[nodiscard]] std::size_t checked_count(std::string_view op, std::size_t first,
                                          std::size_t count) const;

  DeviceBuffer buffer_;
};

}  // namespace stoker
