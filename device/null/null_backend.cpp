#include "stoker/device/null/null_backend.hpp"

#include "stoker/device/memory/host_memory.hpp"

namespace stoker::device::null {
namespace {

class NullRecording final : public Recording {
 public:
  explicit NullRecording(std::size_t count) : steps{static_cast<std::uint32_t>(count)} {}
  const std::uint32_t steps;
};

std::vector<StepTiming> no_time(std::size_t steps) {
  const auto now = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                              std::chrono::nanoseconds{1});
  return std::vector<StepTiming>(steps, StepTiming{now, now});
}

}  // namespace

DeviceInfo NullBackend::describe() {
  DeviceInfo info;
  info.name = "null";
  info.backend = "null";
  info.description = "completes every command at once and computes nothing";
  info.type = DeviceType::null;
  info.driver = "stoker";
  info.uuid = "null";
  info.memory_bytes = host_memory_bytes();
  info.unified_memory = true;
  info.host_addressable = true;
  for (std::size_t i = 0; i < dtype_count; ++i) info.dtypes.push_back(static_cast<DType>(i));
  return info;
}

NullBackend::NullBackend(CompletionSink& sink) : sink_{sink}, info_{describe()} {}

Result<std::unique_ptr<MemoryBlock>> NullBackend::allocate(std::uint64_t bytes, MemoryKind kind) {
  return allocate_host_block(bytes, kind);
}

Result<std::shared_ptr<const Executable>> NullBackend::prepare(std::shared_ptr<const Kernel> kernel,
                                                               const KernelCall&,
                                                               std::span<const TensorSpec>) {
  auto executable = std::make_shared<Executable>();
  executable->kernel = kernel->name;
  return std::shared_ptr<const Executable>{std::move(executable)};
}

Result<std::unique_ptr<Recording>> NullBackend::record(std::span<const Step> steps) {
  recordings_.fetch_add(1, std::memory_order_relaxed);
  return std::unique_ptr<Recording>{std::make_unique<NullRecording>(steps.size())};
}

Result<void> NullBackend::submit(const Submission& submission) {
  submissions_.fetch_add(1, std::memory_order_relaxed);
  const std::size_t steps = submission.recording
                                ? static_cast<const NullRecording*>(submission.recording)->steps
                                : submission.steps.size();
  if (submission.progress)
    submission.progress->store(static_cast<std::uint32_t>(steps), std::memory_order_relaxed);
  sink_.on_completed({{submission.queue, submission.value},
                      {},
                      submission.timed ? no_time(steps) : std::vector<StepTiming>{}});
  return {};
}

bool NullBackend::wait(QueuePoint, std::chrono::steady_clock::time_point) noexcept { return true; }

BackendCounters NullBackend::counters() const noexcept {
  BackendCounters counters;
  counters.submissions = submissions_.load(std::memory_order_relaxed);
  counters.recordings = recordings_.load(std::memory_order_relaxed);
  return counters;
}

}  // namespace stoker::device::null
