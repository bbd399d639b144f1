// A device: where buffers live and kernels run.
//
// A shared handle, usable from any thread. Calls throw the Error for bad input, before anything is
// queued and with nothing changed; what happens later is the Command's outcome. A handle that was
// made without a device may only be assigned, destroyed and asked whether it has one.
//
// A device that is lost (device_lost) is opened again by the system's supervisor: the handle then
// speaks of the new one. Buffers of the lost one stay lost, and say so; calls fail with device_lost
// until it is back.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/api/buffer.hpp"
#include "stoker/api/command.hpp"
#include "stoker/device/device_info.hpp"
#include "stoker/device/stats.hpp"
#include "stoker/kernels/params.hpp"

namespace stoker {

/// One kernel call, for Device::submit of many at once.
struct KernelCallRequest {
  std::string_view kernel;
  std::vector<Buffer> inputs;
  std::vector<Buffer> outputs;
  Params params = {};
};

struct DeviceStats {
  MemoryStats memory;
  SchedulerStats commands;
  BackendCounters backend;
  /// Kernels made ready for inputs and parameters that are kept to be used again.
  std::size_t executables = 0;
  /// Bytes, counted in `memory.in_use`, that pipelines keep for their next runs: an eighth of the budget,
  /// beyond that only what runs, and what ran last. Pipeline::trim() gives them back.
  std::uint64_t kept_arenas = 0;
};

class Device {
 public:
  Device() = default;
  explicit Device(std::shared_ptr<DeviceClient> client) noexcept : client_{std::move(client)} {}

  [[nodiscard]] const DeviceInfo& info() const noexcept;
  /// False while it is lost and not yet opened again.
  [[nodiscard]] bool ready() const;
  /// Ready when the device is; at once unless it is lost. Errors: device_lost (it was opened again too
  /// often and stays lost), closed (the system has stopped).
  [[nodiscard]] Future<void> when_ready() const;
  [[nodiscard]] const std::string& name() const noexcept { return info().name; }

  // Buffers ---------------------------------------------------------------------------------------
  /// Contents undefined. Throws out_of_memory, limit_exceeded.
  [[nodiscard]] Buffer buffer(const TensorSpec& spec) const;
  [[nodiscard]] Buffer buffer(DType dtype, const Shape& shape) const {
    return buffer(TensorSpec{dtype, shape});
  }
  /// A copy of `bytes`, which must fill the spec exactly.
  [[nodiscard]] Buffer buffer(const TensorSpec& spec, std::span<const std::byte> bytes) const;
  /// The program's own memory, without a copy; `owner` keeps it until the last handle is gone and the
  /// device is done with it, and is then dropped on any thread. Commands that write the buffer write
  /// there. Throws unsupported unless info().host_addressable, invalid_argument unless the bytes fill
  /// the spec and begin at a multiple of 64.
  [[nodiscard]] Buffer adopt(const TensorSpec& spec, std::span<std::byte> bytes,
                             std::shared_ptr<const void> owner) const;
  /// A copy of `values` in the given shape.
  template <class T>
  [[nodiscard]] Buffer buffer(std::span<const T> values, const Shape& shape) const {
    return buffer(TensorSpec{dtype_of<T>, shape}, std::as_bytes(values));
  }
  template <class T>
  [[nodiscard]] Buffer buffer(const std::vector<T>& values, const Shape& shape) const {
    return buffer(std::span<const T>{values}, shape);
  }
  /// One-dimensional.
  template <class T> [[nodiscard]] Buffer buffer(const std::vector<T>& values) const {
    return buffer(values, Shape{static_cast<std::int64_t>(values.size())});
  }
  template <class T> [[nodiscard]] Buffer buffer(std::initializer_list<T> values) const {
    return buffer(std::span<const T>{values.begin(), values.size()},
                  Shape{static_cast<std::int64_t>(values.size())});
  }

  // Kernels ---------------------------------------------------------------------------------------
  /// Runs a kernel into existing buffers. Throws unknown_kernel, arity_mismatch, shape_mismatch,
  /// dtype_mismatch, invalid_parameter, wrong_device, released, unsupported, overloaded.
  Command submit(std::string_view kernel, std::span<const Buffer> inputs, const Buffer& output,
                 const Params& params = {}, const CommandOptions& options = {}) const;
  Command submit(std::string_view kernel, std::initializer_list<Buffer> inputs,
                 const Buffer& output, const Params& params = {},
                 const CommandOptions& options = {}) const {
    return submit(kernel, std::span<const Buffer>{inputs.begin(), inputs.size()}, output, params,
                  options);
  }
  /// Many at once, which costs less than one by one. All or nothing.
  std::vector<Command> submit(std::span<const KernelCallRequest> calls,
                              const CommandOptions& options = {}) const;

  /// Runs a kernel into new buffers, which are there at once; their contents come later, and a
  /// failure reaches whoever reads them.
  [[nodiscard]] Buffer run(std::string_view kernel, std::span<const Buffer> inputs,
                           const Params& params = {}, const CommandOptions& options = {}) const;
  [[nodiscard]] Buffer run(std::string_view kernel, std::initializer_list<Buffer> inputs,
                           const Params& params = {}, const CommandOptions& options = {}) const {
    return run(kernel, std::span<const Buffer>{inputs.begin(), inputs.size()}, params, options);
  }

  /// What a call would produce, without running it; throws as submit() does. The kernel is compiled
  /// for this device now instead of at its first use.
  std::vector<TensorSpec> warm_up(std::string_view kernel, std::span<const TensorSpec> inputs,
                                  const Params& params = {}) const;

  /// Throws forked_process in a child of fork(), as do trim() and warm_up().
  [[nodiscard]] DeviceStats stats() const;
  /// Gives memory that is kept for reuse back to the system; the number of bytes.
  std::uint64_t trim() const;

  [[nodiscard]] explicit operator bool() const noexcept { return client_ != nullptr; }
  /// Of the device as it is now: a lost one that was opened again has another. Throws invalid_argument for
  /// an empty handle.
  [[nodiscard]] std::shared_ptr<DeviceClient> client() const;
  friend bool operator==(const Device& a, const Device& b) {
    return a && b ? a.client() == b.client() : !a && !b;
  }

 private:
  std::shared_ptr<DeviceClient> client_;
};

}  // namespace stoker
