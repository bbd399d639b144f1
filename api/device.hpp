// A device: where buffers live and kernels run.
//
// A shared handle, usable from any thread. Calls with bad input throw before anything is queued,
// and change nothing; later failures are the Command's outcome. A default-constructed handle is
// empty: only assignment, destruction and operator bool are allowed.
//
// The system's supervisor opens a lost device again; the handle then refers to the new one. Until
// then calls fail with device_lost. Buffers of the lost device stay lost: using them gives
// device_lost.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/api/buffer.hpp"
#include "stoker/api/command.hpp"
#include "stoker/device/device_info.hpp"
#include "stoker/device/stats.hpp"
#include "stoker/kernels/params.hpp"
#include "stoker/kernels/typed_kernel.hpp"

namespace stoker {

/// One kernel call, for Device::submit of many at once.
struct KernelCallRequest {
  std::string_view kernel;
  std::vector<Buffer> inputs;
  std::vector<Buffer> outputs;
  Params params = {};

  /// KernelCallRequest::of(kernels::Svd{}, {matrix}, {u, s, vt})
  template <TypedKernel K>
  [[nodiscard]] static KernelCallRequest of(const K& kernel, std::vector<Buffer> inputs,
                                            std::vector<Buffer> outputs) {
    return {K::kind, std::move(inputs), std::move(outputs), options::given(kernel)};
  }
};

struct DeviceStats {
  MemoryStats memory;
  SchedulerStats commands;
  BackendCounters backend;
  /// Number of cached executables: kernels prepared for certain inputs and parameters.
  std::size_t executables = 0;
  /// Bytes, counted in `memory.in_use`, that pipelines keep for their next runs: up to an eighth of
  /// the budget, and beyond that only for runs in progress and the last one. Pipeline::trim() frees
  /// them.
  std::uint64_t kept_arenas = 0;
};

class Device {
 public:
  Device() = default;
  explicit Device(std::shared_ptr<DeviceClient> client) noexcept : client_{std::move(client)} {}

  [[nodiscard]] const DeviceInfo& info() const noexcept;
  /// False while the device is lost and not yet opened again.
  [[nodiscard]] bool ready() const;
  /// Ready when the device is: at once, unless it is lost. Errors: device_lost (it was opened again
  /// too often and stays lost), closed (the system has stopped).
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
  /// A buffer over the program's own memory, without a copy. `owner` keeps the memory alive until
  /// the last handle is gone and the device is done with it; it is then released, on any thread.
  /// Commands that write the buffer write to this memory. Throws unsupported unless
  /// info().host_addressable, invalid_argument unless the bytes fill the spec and start at a
  /// multiple of 64.
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
  // A built-in kernel is named by its struct of options, kernels::GaussianBlur{.radius = 2}, which the
  // compiler checks (kernels/typed_kernel.hpp), or, as any kernel, by a text and Params.
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
  template <TypedKernel K>
  Command submit(const K& kernel, std::span<const Buffer> inputs, const Buffer& output,
                 const CommandOptions& options = {}) const {
    return submit(K::kind, inputs, output, options::given(kernel), options);
  }
  template <TypedKernel K>
  Command submit(const K& kernel, std::initializer_list<Buffer> inputs, const Buffer& output,
                 const CommandOptions& options = {}) const {
    return submit(K::kind, inputs, output, options::given(kernel), options);
  }
  /// Submits many calls at once, which costs less than one by one. If one is refused, none is
  /// queued.
  std::vector<Command> submit(std::span<const KernelCallRequest> calls,
                              const CommandOptions& options = {}) const;

  /// Runs a kernel into a new buffer, which is returned at once. Its contents are computed later;
  /// reading it after a failure gives the error.
  [[nodiscard]] Buffer run(std::string_view kernel, std::span<const Buffer> inputs,
                           const Params& params = {}, const CommandOptions& options = {}) const;
  [[nodiscard]] Buffer run(std::string_view kernel, std::initializer_list<Buffer> inputs,
                           const Params& params = {}, const CommandOptions& options = {}) const {
    return run(kernel, std::span<const Buffer>{inputs.begin(), inputs.size()}, params, options);
  }
  template <TypedKernel K>
  [[nodiscard]] Buffer run(const K& kernel, std::span<const Buffer> inputs,
                           const CommandOptions& options = {}) const {
    return run(K::kind, inputs, options::given(kernel), options);
  }
  template <TypedKernel K>
  [[nodiscard]] Buffer run(const K& kernel, std::initializer_list<Buffer> inputs,
                           const CommandOptions& options = {}) const {
    return run(K::kind, inputs, options::given(kernel), options);
  }

  /// Compiles the kernel for this device now instead of at its first use. Returns the specs of the
  /// outputs; runs nothing. Throws as submit() does.
  std::vector<TensorSpec> warm_up(std::string_view kernel, std::span<const TensorSpec> inputs,
                                  const Params& params = {}) const;
  template <TypedKernel K>
  std::vector<TensorSpec> warm_up(const K& kernel, std::span<const TensorSpec> inputs) const {
    return warm_up(K::kind, inputs, options::given(kernel));
  }

  /// Throws forked_process in a child of fork(), as do trim() and warm_up().
  [[nodiscard]] DeviceStats stats() const;
  /// Returns memory kept for reuse to the operating system or driver; the result is the number of
  /// bytes.
  std::uint64_t trim() const;

  [[nodiscard]] explicit operator bool() const noexcept { return client_ != nullptr; }
  /// The current client: a device that was lost and opened again has a new one. Throws
  /// invalid_argument for an empty handle.
  [[nodiscard]] std::shared_ptr<DeviceClient> client() const;
  friend bool operator==(const Device& a, const Device& b) {
    return a && b ? a.client() == b.client() : !a && !b;
  }

 private:
  std::shared_ptr<DeviceClient> client_;
};

}  // namespace stoker
