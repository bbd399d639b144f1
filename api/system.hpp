// The system: executor, devices, kernels, trace and metrics of one program (or of one part of it).
//
// A shared handle. The last one that goes stops the system: new work is refused, what queues fails
// with `closed`, what runs is waited for within a bound. Buffers and commands may outlive it; using
// them then gives `closed`.
//
// Threads: any. Nothing touches Vulkan before a device of it is asked for or the devices are listed.
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

// Whoever uses what a system hands out includes the header beside it.
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
  /// Where actors and continuations run: a host's event loop (use_event_loop() in api/asio.hpp) or a
  /// test's ManualExecutor. Null: a pool of our own. It outlives the system.
  std::shared_ptr<Executor> executor = {};
  /// Null: the machine's clock. It outlives the system.
  std::shared_ptr<Clock> clock = {};
  /// Replaces the built-in drivers, for tests.
  std::vector<std::shared_ptr<Driver>> drivers = {};
  /// Memory budget and queue sizes of each device.
  SchedulerOptions device = {};
  /// Threads and queue of run_blocking() and of the image codecs (api/image.hpp).
  BlockingOptions blocking = {};
  /// How often a lost device is opened again.
  DeviceRestarts device_restarts = {};
  /// A handler or process that has its thread for longer is named in the log; zero: none is watched.
  /// An executor has one watch: that of whoever began it first.
  std::chrono::nanoseconds stall_limit = std::chrono::seconds{1};
  /// How long stopping waits in all: for the program's actors, for work in flight on the devices, and
  /// for the devices.
  std::chrono::nanoseconds stop_patience = std::chrono::seconds{5};
};

struct KernelSpec;
struct UserKernel;
struct SystemState;

class System {
 public:
  /// Throws invalid_argument for options out of their range, std::system_error if threads cannot be
  /// started.
  System() : System{SystemOptions{}} {}
  explicit System(SystemOptions options);

  /// Every device there is, best first: discrete GPU, integrated GPU, virtual GPU, cpu; then
  /// software GPUs and null, which are used only when asked for by name.
  [[nodiscard]] std::vector<DeviceInfo> devices() const;
  /// Why each driver and device was taken or rejected.
  [[nodiscard]] std::vector<Diagnosis> diagnose() const;

  /// The device called `name` ("cpu", "vulkan:0", "null", or a kind such as "vulkan": its first).
  /// Empty: STOKER_DEVICE, else the best. The same device is opened once. Throws not_found (with
  /// the names there are), unsupported.
  [[nodiscard]] Device device(std::string_view name = {}) const;

  /// An empty pipeline on that device.
  [[nodiscard]] Pipeline pipeline(const Device& device) const { return Pipeline{device.client()}; }
  [[nodiscard]] Pipeline pipeline(std::string_view device_name = {}) const {
    return pipeline(device(device_name));
  }

  /// Adds a kernel of the program's; see api/kernel_spec.hpp. Its GLSL is compiled here, into the system's
  /// cache. Throws already_exists, invalid_argument, compile_failed. The handle is for stoker::call().
  UserKernel add_kernel(KernelSpec spec) const;
  /// The same for one that was made elsewhere, by cpp_kernel() for example.
  UserKernel add_kernel(Kernel kernel) const;
  [[nodiscard]] std::shared_ptr<const Kernel> kernel(std::string_view name) const;
  [[nodiscard]] std::vector<std::shared_ptr<const Kernel>> kernels() const;

  /// The program's own supervisor in the system's tree, beside those of the devices: add to it with
  /// start_child(). Ten restarts within a minute end it, not the devices. Throws closed.
  [[nodiscard]] Supervisor supervisor() const;
  /// What the system looks like right now: the tree, the devices, what waits where. Taken by a process
  /// on the executor, within a second for each level of the tree. Errors: forked_process; closed if the
  /// executor goes first.
  [[nodiscard]] Future<SystemObservation> observe() const;

  /// Calls function() where it may block or compute for long, on a thread of a bounded pool: the future
  /// holds what it returns (U, void or Result<U>) or the Error it throws. Throws overloaded (as many run
  /// and wait as SystemOptions::blocking allows), closed. Dropping the future does not cancel the work;
  /// see runtime/futures/blocking_pool.hpp.
  template <class F> auto run_blocking(F&& function) const {
    return blocking().run(std::forward<F>(function));
  }
  /// The pool itself.
  [[nodiscard]] BlockingPool& blocking() const noexcept;

  /// Names for the program's actors.
  [[nodiscard]] ActorRegistry& registry() const noexcept;

  /// Continuations and processes run here.
  [[nodiscard]] Executor& executor() const noexcept;
  /// The same, for spawn().
  [[nodiscard]] std::shared_ptr<Executor> shared_executor() const noexcept;
  [[nodiscard]] Clock& clock() const noexcept;
  /// Off until enabled; write_json() saves it for chrome://tracing or ui.perfetto.dev.
  [[nodiscard]] TraceRecorder& trace() const noexcept;
  [[nodiscard]] MetricRegistry& metrics() const noexcept;
  [[nodiscard]] const Config& config() const noexcept;

  /// Stops the system now instead of with the last handle: first the program's actors, then blocking work,
  /// then the devices with their memory; memory that a handle still holds stays. Waits up to stop_patience,
  /// but does not wait for actors or blocking work when called on an executor thread or a host's loop, nor in
  /// a job of run_blocking() for other jobs: they end later there, in the same order, when those threads come
  /// to it. A device that another thread is opening is waited for first, however long its driver takes.
  /// Returns false if something was still running; it is left behind. Concurrent calls wait for the same
  /// end. Later calls do nothing.
  bool stop() const;

 private:
  std::shared_ptr<SystemState> state_;
};

}  // namespace stoker
