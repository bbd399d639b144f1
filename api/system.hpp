// The system: executor, devices, kernels, trace and metrics of one program (or of one part of it).
//
// A shared handle. Destroying the last one stops the system: new work is refused, queued work fails
// with `closed`, running work is waited for, up to stop_patience. Buffers and commands may outlive
// it; using them then gives `closed`.
//
// Threads: any. Vulkan is not touched until a Vulkan device is requested or the devices are listed.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/actors/device/device_restarts.hpp"
#include "stoker/api/device.hpp"
#include "stoker/api/observe/observation.hpp"
#include "stoker/api/pipeline.hpp"
#include "stoker/device/device_info.hpp"
#include "stoker/device/scheduler_options.hpp"
#include "stoker/runtime/config.hpp"
#include "stoker/runtime/futures/blocking_pool.hpp"

namespace stoker {

// To use one of these, include the header named beside it.
class ActorRegistry;   // actors/registry.hpp
class Clock;           // runtime/execution/clock.hpp
class Driver;          // device/backend.hpp
class Executor;        // runtime/execution/executor.hpp
class MetricRegistry;  // runtime/observe/metrics.hpp
class Supervisor;      // actors/supervisor/supervisor.hpp
class TraceRecorder;   // runtime/observe/trace.hpp
struct Kernel;         // api/kernel.hpp

struct SystemOptions {
  /// Settings; by default those of the environment (STOKER_DEVICE, STOKER_CACHE_DIR, …).
  Config config = Config::from_environment();
  /// Where actors and continuations run: a host's event loop (use_event_loop() in api/asio.hpp) or
  /// a test's ManualExecutor. Null: the system's own thread pool. It must outlive the system.
  std::shared_ptr<Executor> executor = {};
  /// Null: the machine's clock. It must outlive the system.
  std::shared_ptr<Clock> clock = {};
  /// Replaces the built-in drivers, for tests.
  std::vector<std::shared_ptr<Driver>> drivers = {};
  /// Memory budget and queue sizes of each device.
  SchedulerOptions device = {};
  /// Threads and queue of run_blocking() and of the image codecs (api/image.hpp).
  BlockingOptions blocking = {};
  /// How often a lost device is opened again.
  DeviceRestarts device_restarts = {};
  /// The log names any handler or process that holds its thread for longer. Zero: no watching. An
  /// executor is watched only once, with the limit of the first system that uses it.
  std::chrono::nanoseconds stall_limit = std::chrono::seconds{1};
  /// How long stopping waits in total: for the program's actors, for work in flight, and for the
  /// devices.
  std::chrono::nanoseconds stop_patience = std::chrono::seconds{5};
};

struct CppKernelSpec;
struct KernelSpec;
struct UserKernel;
struct SystemState;

class System {
 public:
  /// Throws invalid_argument for options out of their range, std::system_error if threads cannot be
  /// started.
  System() : System{SystemOptions{}} {}
  explicit System(SystemOptions options);

  /// All devices, best first: discrete GPU, integrated GPU, virtual GPU, cpu; then software GPUs
  /// and null, which are used only when asked for by name.
  [[nodiscard]] std::vector<DeviceInfo> devices() const;
  /// Why each driver and device was accepted or rejected.
  [[nodiscard]] std::vector<Diagnosis> diagnose() const;

  /// The device called `name` ("cpu", "vulkan:0", "null"), or the first of a kind ("vulkan").
  /// Empty: STOKER_DEVICE, else the best one. Each device is opened only once. Throws not_found
  /// (listing the available names), unsupported.
  [[nodiscard]] Device device(std::string_view name = {}) const;

  /// An empty pipeline on that device.
  [[nodiscard]] Pipeline pipeline(const Device& device) const { return Pipeline{device.client()}; }
  [[nodiscard]] Pipeline pipeline(std::string_view device_name = {}) const {
    return pipeline(device(device_name));
  }

  /// Adds a user-defined kernel; see api/kernel_spec.hpp. Compiles its GLSL now, into the system's
  /// cache. Throws already_exists, invalid_argument, compile_failed. Pass the handle to
  /// stoker::call().
  UserKernel add_kernel(KernelSpec spec) const;
  /// Adds a kernel that is a C++ function; see kernels/cpp_kernel.hpp. Throws already_exists,
  /// invalid_argument.
  UserKernel add_kernel(CppKernelSpec spec) const;
  /// Adds a kernel whose definition is complete. Throws the same.
  UserKernel add_kernel(Kernel kernel) const;
  [[nodiscard]] std::shared_ptr<const Kernel> kernel(std::string_view name) const;
  [[nodiscard]] std::vector<std::shared_ptr<const Kernel>> kernels() const;

  /// The supervisor for the program's own actors, a sibling of the devices' supervisors; add
  /// children with start_child(). Ten restarts within a minute end it, but not the devices. Throws
  /// closed.
  [[nodiscard]] Supervisor supervisor() const;
  /// A snapshot of the system: the supervision tree, the devices, the queues. A process on the
  /// executor takes it, within one second for each level of the tree. Errors: forked_process;
  /// closed if the executor stops first.
  [[nodiscard]] Future<SystemObservation> observe() const;

  /// Calls function() on a thread of a bounded pool, where it may block or compute for long. The
  /// future holds what it returns (U, void or Result<U>) or the Error it throws. Throws overloaded
  /// (threads and queue of SystemOptions::blocking are full), closed. Dropping the future does not
  /// cancel the work; see runtime/futures/blocking_pool.hpp.
  template <class F> auto run_blocking(F&& function) const {
    return blocking().run(std::forward<F>(function));
  }
  /// The pool itself.
  [[nodiscard]] BlockingPool& blocking() const noexcept;

  /// Names for the program's actors.
  [[nodiscard]] ActorRegistry& registry() const noexcept;

  /// Continuations and processes run here.
  [[nodiscard]] Executor& executor() const noexcept;
  /// The same executor, for spawn().
  [[nodiscard]] std::shared_ptr<Executor> shared_executor() const noexcept;
  [[nodiscard]] Clock& clock() const noexcept;
  /// Off until enabled; write_json() saves it for chrome://tracing or ui.perfetto.dev.
  [[nodiscard]] TraceRecorder& trace() const noexcept;
  [[nodiscard]] MetricRegistry& metrics() const noexcept;
  [[nodiscard]] const Config& config() const noexcept;

  /// Stops the system now instead of with the last handle: first the program's actors, then
  /// blocking work, then the devices with their memory; memory that a handle still holds stays.
  /// Waits up to stop_patience. On an executor thread or a host's loop it does not wait for actors
  /// or blocking work, and in a job of run_blocking() it does not wait for other jobs: these end
  /// later, in the same order. If another thread is opening a device, stop() first waits until its
  /// driver is done. Returns false if something was still running; that is abandoned. Concurrent
  /// calls wait for the same end. Later calls do nothing.
  bool stop() const;

 private:
  std::shared_ptr<SystemState> state_;
};

}  // namespace stoker
