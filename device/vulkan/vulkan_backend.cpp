#include "stoker/device/vulkan/vulkan_backend.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "stoker/device/vulkan/instance/result.hpp"
#include "stoker/device/vulkan/submission/recording.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker::device::vulkan {
namespace {

constexpr std::chrono::seconds drain_patience{5};
constexpr std::chrono::microseconds completion_spin{20};
constexpr std::chrono::microseconds wait_spin{50};

Completer::Options completer_options(const DeviceInfo& info, const OpenOptions& options) {
  Completer::Options result;
  // A software device computes on the cores that spinning would take from it, and nobody's display
  // waits for it: its kernels may take their time.
  result.software = info.type == DeviceType::software_gpu;
  if (result.software) return result;
  result.submit_target = options.submit_target;
  result.spin = completion_spin;
  result.wait_spin = wait_spin;
  return result;
}

/// The last kernels of a submission, to be named should the device be lost.
void remember_last(std::span<const Step> steps, Flight& flight) noexcept {
  const std::size_t count = std::min(steps.size(), flight.last.size());
  for (std::size_t i = 0; i < count; ++i)
    flight.last[i] =
        static_cast<const VulkanExecutable*>(steps[steps.size() - count + i].executable.get());
}

}  // namespace

Result<std::unique_ptr<Backend>> VulkanBackend::open(std::shared_ptr<Instance> instance,
                                                     const PhysicalDevice& physical,
                                                     CompletionSink& sink,
                                                     const OpenOptions& options) {
  const ExitDelay delay;
  if (delay.too_late()) return process_exits("open");
  STOKER_ASSIGN(auto device, DeviceHandle::create(std::move(instance), physical));
  STOKER_ASSIGN(auto pipelines, Pipelines::create(device, options.cache_dir));
  Queues queues;
  STOKER_ASSIGN(auto compute, Queue::create(device, QueueKind::compute));
  queues.push_back(std::move(compute));
  if (physical.transfer_family != no_family) {
    STOKER_ASSIGN(auto transfer, Queue::create(device, QueueKind::transfer));
    queues.push_back(std::move(transfer));
  }
  auto backend = std::make_unique<VulkanBackend>(std::move(device), std::move(pipelines),
                                                 std::move(queues), sink, options);
  STOKER_TRY(backend->completer_->start());
  return std::unique_ptr<Backend>{std::move(backend)};
}

VulkanBackend::VulkanBackend(std::shared_ptr<DeviceHandle> device,
                             std::unique_ptr<Pipelines> pipelines, Queues queues,
                             CompletionSink& sink, const OpenOptions& options)
    : process_{getpid()},
      device_{std::move(device)},
      pipelines_{std::move(pipelines)},
      encoder_{*device_, *pipelines_, options.submit_target},
      completer_{std::make_shared<Completer>(device_, std::move(queues), sink,
                                             completer_options(device_->info(), options))},
      queues_{completer_->queues()},
      exit_watch_{[this] { leave(); }} {}

VulkanBackend::~VulkanBackend() {
  if (getpid() != process_) {
    // A forked child shares neither the thread nor the device; destroying either would hang or
    // disturb the parent. The thread's share of the completer is there for ever.
    device_->abandon();
    return;
  }
  ending_.emplace(*device_);
  if (!*ending_) device_->abandon();
  const bool drained = completer_->drain(std::chrono::steady_clock::now() + drain_patience);
  completer_->stop();
  if (!drained && !completer_->lost()) {
    device_->abandon();
    try {
      log_warn("a device did not finish in time and is left behind",
               {{"device", device_->info().name}});
    } catch (...) {
      // Saying so is all that failed.
    }
  }
}

void VulkanBackend::leave() noexcept {
  if (getpid() == process_) {
    pipelines_->save();
    completer_->leave();
  }
  device_->abandon();
}

Error VulkanBackend::noted(Error error) noexcept {
  if (error.code() == ErrorCode::device_lost) completer_->lose(error);
  return error;
}

Result<std::unique_ptr<MemoryBlock>> VulkanBackend::allocate(std::uint64_t bytes, MemoryKind kind) {
  const DriverUse use{*device_};
  if (!use || completer_->lost()) return completer_->loss();
  auto block = VulkanBlock::allocate(device_, bytes, kind);
  if (!block) return noted(std::move(block).error());
  return std::unique_ptr<MemoryBlock>{std::move(*block)};
}

std::uint64_t VulkanBackend::free_bytes() const noexcept { return vulkan::free_bytes(*device_); }

Result<std::shared_ptr<const Executable>> VulkanBackend::prepare(
    std::shared_ptr<const Kernel> kernel, const KernelCall& call,
    std::span<const TensorSpec> outputs) {
  const DriverUse use{*device_};
  if (!use || completer_->lost()) return completer_->loss();
  try {
    auto prepared = VulkanExecutable::prepare(*device_, *pipelines_, *kernel, call, outputs);
    if (!prepared) return noted(std::move(prepared).error());
    return prepared;
  } catch (...) {
    return error_from_current_exception(kernel->name);
  }
}

Result<std::unique_ptr<Recording>> VulkanBackend::record(std::span<const Step> steps) {
  const DriverUse use{*device_};
  if (!use || completer_->lost()) return completer_->loss();
  try {
    auto recording = std::make_unique<VulkanRecording>(device_, steps);
    device_->counters.recordings.fetch_add(1, std::memory_order_relaxed);
    return std::unique_ptr<Recording>{std::move(recording)};
  } catch (...) {
    return error_from_current_exception("record");
  }
}

bool VulkanBackend::rebind(Recording& recording, std::span<const Step> steps) noexcept {
  return static_cast<VulkanRecording&>(recording).rebind(steps);
}

void VulkanBackend::run_ended(Recording& recording) noexcept {
  auto& ended = static_cast<VulkanRecording&>(recording);
  if (ended.is_encoded() || ended.steps().empty() || !all_measured(ended.steps())) return;
  const DriverUse use{*device_};
  if (!use || completer_->lost()) return;
  try {
    const Queue& compute = *queues_[0];
    if (const auto made = ended.list(compute.kind(), compute.family(), encoder_); !made)
      static_cast<void>(noted(made.error()));
  } catch (...) {
    // No memory: the next run tries again.
  }
}

Queue* VulkanBackend::queue_of(QueueKind kind) noexcept {
  for (const auto& queue : queues_)
    if (queue->kind() == kind) return queue.get();
  return nullptr;
}

bool VulkanBackend::collect_waits(const Submission& submission, const Queue& queue) {
  bool barrier_first = false;
  waits_.clear();
  for (const QueuePoint& point : submission.waits) {
    const Queue* const other = queue_of(point.queue);
    if (!other || point.value == 0) continue;
    if (other == &queue && point.value >= queue.last_submitted())
      barrier_first = true;
    else
      waits_.push_back({other->timeline(), point.value});
  }
  return barrier_first;
}

Result<void> VulkanBackend::submit(const Submission& submission) {
  if (completer_->lost()) return completer_->loss();
  Queue* const queue = queue_of(submission.queue);
  if (!queue)
    return Error{"submit",
                 ErrorCode::unsupported,
                 "the device has no queue of its own for transfers",
                 {{"device", info().name}}};
  Flight* flight = nullptr;
  try {
    std::unique_lock gate = completer_->open_gate();
    if (!gate) return completer_->loss();
    flight = &queue->take();
    const auto launched = fill_and_launch(submission, *queue, *flight);
    gate.unlock();
    if (launched) {
      completer_->notify();
      return {};
    }
    queue->recycle(*flight);
    return noted(launched.error());
  } catch (...) {
    if (flight) queue->recycle(*flight);
    return error_from_current_exception("submit");
  }
}

Result<void> VulkanBackend::fill_and_launch(const Submission& submission, Queue& queue,
                                            Flight& flight) {
  auto* const recording = static_cast<VulkanRecording*>(submission.recording);
  const std::span<const Step> steps = recording ? recording->steps() : submission.steps;
  flight.value = submission.value;
  flight.steps = static_cast<std::uint32_t>(steps.size());
  flight.progress = submission.progress;
  const bool barrier_first = collect_waits(submission, queue);
  const bool can_time = queue.timestamp_bits() != 0 && !steps.empty();
  const bool timed = can_time && (submission.timed || !all_measured(steps));
  bool needs_prologue = barrier_first;
  if (recording) flight.recorded = steps;
  if (submission.recording_moves) recording->expect_moves();
  if (!recording || timed) {
    if (!steps.empty()) {
      STOKER_TRY(encode_once(steps, submission, queue, flight, barrier_first));
      needs_prologue = false;
    }
    if (!recording) remember_last(steps, flight);
  } else if (!steps.empty()) {
    flight.typical_ns = &recording->typical_ns;
    STOKER_ASSIGN(flight.list, recording->list(queue.kind(), queue.family(), encoder_));
  }
  if (const VkResult result = queue.launch(flight, waits_, needs_prologue); result < 0)
    return vk_error("submit", "vkQueueSubmit2", result, {{"device", info().name}});
  return {};
}

Result<void> VulkanBackend::encode_once(std::span<const Step> steps, const Submission& submission,
                                        const Queue& queue, Flight& flight, bool barrier_first) {
  Encoder::Options options;
  options.starts_with_barrier = barrier_first;
  options.timed = queue.timestamp_bits() != 0 && (submission.timed || !all_measured(steps));
  options.transfer_only = queue.kind() == QueueKind::transfer;
  STOKER_TRY(flight.own.reset());
  STOKER_TRY(encoder_.encode(steps, flight.own, options));
  flight.list = &flight.own;
  if (!options.timed) return {};
  flight.has_timestamps = true;
  flight.wants_timings = submission.timed;
  flight.executables.reserve(steps.size());
  for (const Step& step : steps)
    flight.executables.push_back(static_cast<const VulkanExecutable*>(step.executable.get()));
  return {};
}

bool VulkanBackend::wait(QueuePoint point,
                         std::chrono::steady_clock::time_point deadline) noexcept {
  Queue* const queue = queue_of(point.queue);
  return queue && completer_->wait(*queue, point.value, deadline);
}

BackendCounters VulkanBackend::counters() const noexcept {
  const Counters& from = device_->counters;
  BackendCounters counters;
  counters.submissions = from.submissions.load(std::memory_order_relaxed);
  counters.barriers = from.barriers.load(std::memory_order_relaxed);
  counters.pipelines = from.pipelines.load(std::memory_order_relaxed);
  counters.pipelines_created = from.pipelines_created.load(std::memory_order_relaxed);
  counters.pipelines_from_cache = from.pipelines_from_cache.load(std::memory_order_relaxed);
  counters.recordings = from.recordings.load(std::memory_order_relaxed);
  counters.encoded = from.encoded.load(std::memory_order_relaxed);
  counters.validation_messages = device_->instance().validation_messages();
  return counters;
}

}  // namespace stoker::device::vulkan
