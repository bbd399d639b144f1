// The small interface a device driver implements. Backends may trust their input: the device client
// has checked every call. The scheduler keeps memory alive until the work that uses it is complete,
// and has determined the hazards.
//
// Threads: `submit`, `record`, `allocate` and `prepare` are called from one thread at a time (the
// device's strand) unless a line below says otherwise. Completions come from the backend's own
// thread or from inside submit().
#pragma once

#include <array>
#include <atomic>
#include <boost/container/small_vector.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/device/device_info.hpp"
#include "stoker/device/stats.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/runtime/base/error.hpp"
#include "stoker/runtime/base/shape.hpp"

namespace stoker {

/// Where memory should lie. Backends with one kind of memory treat all alike.
enum class MemoryKind : std::uint8_t {
  device,    ///< fast for kernels; `host` is set where the device can map it
  upload,    ///< host-visible, written once by the host (staging)
  readback,  ///< host-visible and cached, read by the host
};

/// One allocation of the backend; freed by its destructor (any thread, after its last use).
class MemoryBlock {
 public:
  virtual ~MemoryBlock() = default;
  std::byte* host = nullptr;  ///< mapped address, or null
  std::uint64_t address = 0;  ///< device address
  std::uint64_t bytes = 0;
  MemoryKind kind = MemoryKind::device;
};

/// Host memory that somebody else owns, for devices whose info says `host_addressable`.
class HostBlock final : public MemoryBlock {
 public:
  HostBlock(std::byte* data, std::uint64_t size) noexcept {
    host = data;
    address = reinterpret_cast<std::uint64_t>(data);
    bytes = size;
  }
};

/// A part of a block.
struct MemoryView {
  MemoryBlock* block = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  [[nodiscard]] std::byte* host() const noexcept {
    return block->host ? block->host + offset : nullptr;
  }
  [[nodiscard]] std::uint64_t address() const noexcept { return block->address + offset; }
};

/// A kernel made ready for fixed specs and parameters: a CPU plan, or pipelines and their grids.
/// Immutable; shared by every step that uses it.
class Executable {
 public:
  virtual ~Executable() = default;
  std::string kernel;
  std::vector<std::size_t> scratch_bytes;  ///< temporary buffers each run needs
  /// An estimate of the time of a run on one thread of the host, in nanoseconds; infinite if
  /// unknown.
  double cost_ns = std::numeric_limits<double>::infinity();
  /// The same if all threads of the device share the work.
  double shared_cost_ns = std::numeric_limits<double>::infinity();
};

/// Host work of fewer nanoseconds takes less time than handing it to another thread.
inline constexpr double at_once_ns = 4000;
/// A thread that would otherwise wait does host work of fewer nanoseconds itself.
inline constexpr double while_waiting_ns = 200'000;

enum class StepKind : std::uint8_t { dispatch, copy, fill };

/// Tells a backend whether submitted work should stop.
class StopSign {
 public:
  /// Once true, stays true. Any thread.
  [[nodiscard]] virtual bool must_end() noexcept = 0;

 protected:
  ~StopSign() = default;
};

/// One piece of device work.
struct Step {
  StepKind kind = StepKind::dispatch;
  std::shared_ptr<const Executable> executable;           ///< dispatch only
  boost::container::small_vector<MemoryView, 3> inputs;   ///< copy: [0] is the source
  boost::container::small_vector<MemoryView, 1> outputs;  ///< copy and fill: [0] is the target
  boost::container::small_vector<MemoryView, 1> scratch;
  std::array<std::byte, 8> pattern{};  ///< fill: the element, `pattern_bytes` long (1, 2, 4 or 8)
  std::uint8_t pattern_bytes = 4;
  /// Earlier steps of the same submission (indices) whose writes this step must see or whose reads
  /// it must not overtake. Steps without a path between them may overlap.
  boost::container::small_vector<std::uint32_t, 4> after;
  /// If set, backends that support it check this before the step starts, and skip the step if it
  /// must stop. Not for recorded steps. Must outlive the submission's completion.
  StopSign* stop = nullptr;
};

/// Steps prepared to run many times. Destroyed when no submission of it is in flight.
class Recording {
 public:
  virtual ~Recording() = default;
};

enum class QueueKind : std::uint8_t { compute, transfer };
inline constexpr std::size_t queue_kinds = 2;
[[nodiscard]] constexpr std::size_t index_of(QueueKind queue) noexcept {
  return static_cast<std::size_t>(queue);
}

/// "Queue `queue` of this device has completed everything up to `value`."
struct QueuePoint {
  QueueKind queue = QueueKind::compute;
  std::uint64_t value = 0;
};

/// The work that is handed to a queue at once. Exactly one of `steps` and `recording` is used.
/// Steps wait for all of `waits`; these may name points of the same queue, because nothing else
/// orders the submissions of a queue. When the work is done, the queue reaches `value` (the values
/// of a queue may rise by any amount).
struct Submission {
  QueueKind queue = QueueKind::compute;
  std::uint64_t value = 0;
  std::span<const QueuePoint> waits = {};
  std::span<const Step> steps = {};
  Recording* recording = nullptr;
  bool recording_moves = false;  ///< its next run is on other memory (rebind())
  bool timed = false;            ///< ask for StepTiming (device timestamps)
  /// If set, the backend raises it to the number of steps that are done, as often as it can
  /// (monotonic). It must outlive the submission's completion.
  std::atomic<std::uint32_t>* progress = nullptr;
  StopSign* stop = nullptr;  ///< as Step::stop, for all steps of a recording
};

struct StepFailure {
  std::uint32_t step = 0;  ///< the step that failed, or that depends on a failed one
  Error error;
};

/// On the host's steady clock, in nanoseconds since its epoch.
struct StepTiming {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};

struct Completion {
  QueuePoint point;
  std::vector<StepFailure> failures;  ///< empty unless C++ kernels threw
  std::vector<StepTiming> timings;    ///< one per step if the submission was timed
};

/// Receives progress, in order for each queue, on any thread and possibly inside submit(). Its
/// functions must return quickly and must not call the backend.
class CompletionSink {
 public:
  virtual void on_completed(Completion completion) noexcept = 0;
  /// Called at most once; nothing completes afterwards.
  virtual void on_lost(Error reason) noexcept = 0;

 protected:
  ~CompletionSink() = default;
};

class Backend {
 public:
  /// Waits a bounded time for work in flight; never throws. May run on any thread, also inside the
  /// sink, because the last owner may release the backend in a completion. Work that does not end
  /// in time is abandoned: its completion is not reported, and the device memory that it uses stays
  /// allocated, even if its owners free it.
  virtual ~Backend() = default;

  [[nodiscard]] virtual const DeviceInfo& info() const noexcept = 0;  // any thread

  /// out_of_memory when the device refuses. Any thread.
  [[nodiscard]] virtual Result<std::unique_ptr<MemoryBlock>> allocate(std::uint64_t bytes,
                                                                      MemoryKind kind) = 0;

  /// Bytes that are free for this process now, according to the driver; the maximum if it does not
  /// know. Any thread.
  [[nodiscard]] virtual std::uint64_t free_bytes() const noexcept { return ~std::uint64_t{0}; }

  /// Prepares a kernel; compiles lazily. `unsupported` names the missing feature. Any thread.
  [[nodiscard]] virtual Result<std::shared_ptr<const Executable>> prepare(
      std::shared_ptr<const Kernel> kernel, const KernelCall& call,
      std::span<const TensorSpec> outputs) = 0;

  /// Records steps for replay. The memory they use must outlive the recording.
  [[nodiscard]] virtual Result<std::unique_ptr<Recording>> record(std::span<const Step> steps) = 0;

  /// Changes the memory of a recording that is not in flight; apart from their memory, `steps` are
  /// those of the recording. False: it cannot be changed; record the steps again.
  [[nodiscard]] virtual bool rebind(Recording& /*recording*/,
                                    std::span<const Step> /*steps*/) noexcept {
    return false;
  }

  /// A run of a recording has ended, and a next one is expected: makes what the next run needs and only a first run
  /// could tell. What fails is made by the next run, which says so.
  virtual void run_ended(Recording& /*recording*/) noexcept {}

  /// Hands work to a queue. A failure means that nothing of it will run. The caller keeps
  /// executables, memory and the recording alive until the point is complete, not the spans.
  [[nodiscard]] virtual Result<void> submit(const Submission& submission) = 0;

  /// Runs work of up to while_waiting_ns inside the call, one step after the other, if that is faster
  /// than handing it over. False: the backend does not do this, and nothing has run. `failure` gets
  /// the Error of a step that threw. The caller makes sure that no work in flight writes memory that
  /// the steps read, or uses memory that they write. Any thread.
  [[nodiscard]] virtual bool run_at_once(std::span<const Step> /*steps*/,
                                         std::optional<Error>& /*failure*/) {
    return false;
  }

  /// Blocks the calling thread until the point is complete, the device is lost or `deadline` has
  /// passed; may use the thread for work that ends before that. True if the point is complete. Any
  /// thread.
  virtual bool wait(QueuePoint point, std::chrono::steady_clock::time_point deadline) noexcept = 0;

  [[nodiscard]] virtual BackendCounters counters() const noexcept = 0;  // any thread
};

struct OpenOptions {
  std::string cache_dir;    ///< for compiled pipelines; empty: no cache on disk
  bool validation = false;  ///< switch Vulkan's validation layers on where installed
  std::chrono::nanoseconds submit_target = std::chrono::milliseconds{50};  ///< longer work is split
  /// Threads of the process' compute pool, if this call creates it; 0: one per core.
  unsigned cpu_threads = 0;
  bool flush_subnormals = false;  ///< CPU kernels treat subnormal numbers as 0
};

/// Finds and opens the devices of one kind. Defined once per folder under device/, as
///     std::unique_ptr<Driver> stoker::device::<folder>::make_driver()
/// and listed by CMake. Nothing is loaded or opened before the first call.
class Driver {
 public:
  virtual ~Driver() = default;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// The available devices, in a stable order; may be empty.
  [[nodiscard]] virtual std::vector<DeviceInfo> devices() = 0;
  [[nodiscard]] virtual std::vector<Diagnosis> diagnose() = 0;
  /// Opens devices()[index]. `sink` must outlive the backend.
  [[nodiscard]] virtual Result<std::unique_ptr<Backend>> open(std::size_t index,
                                                              CompletionSink& sink,
                                                              const OpenOptions& options) = 0;
};

[[nodiscard]] std::vector<std::unique_ptr<Driver>> all_drivers();

}  // namespace stoker
