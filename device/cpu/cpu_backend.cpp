#include "stoker/device/cpu/cpu_backend.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>

#include "stoker/device/cpu/float_mode.hpp"
#include "stoker/device/cpu/memory_steps.hpp"
#include "stoker/device/memory/host_memory.hpp"
#include "stoker/kernels/instruction_set.hpp"

namespace stoker::device::cpu {
namespace {

std::string processor_name() {
  std::ifstream cpuinfo{"/proc/cpuinfo"};
  for (std::string line; std::getline(cpuinfo, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

class CpuRecording final : public Recording {
 public:
  explicit CpuRecording(std::shared_ptr<Job> recorded) noexcept : job{std::move(recorded)} {}
  const std::shared_ptr<Job> job;
};

/// Host memory that an abandoned job may still touch when its owner frees it.
class CpuBlock final : public MemoryBlock {
 public:
  CpuBlock(std::unique_ptr<MemoryBlock> memory, std::weak_ptr<JobQueue> queue) noexcept
      : MemoryBlock{*memory}, memory_{std::move(memory)}, queue_{std::move(queue)} {}
  ~CpuBlock() override {
    if (const auto queue = queue_.lock()) queue->free(std::move(memory_));
  }
  CpuBlock(const CpuBlock&) = delete;
  CpuBlock& operator=(const CpuBlock&) = delete;

 private:
  std::unique_ptr<MemoryBlock> memory_;
  const std::weak_ptr<JobQueue> queue_;
};

}  // namespace

DeviceInfo CpuBackend::describe(unsigned threads) {
  DeviceInfo info;
  info.name = "cpu";
  info.backend = "cpu";
  info.description = processor_name();
  info.type = DeviceType::cpu;
  info.driver = "stoker " + std::string{cpu_isa()};
  info.uuid = "cpu";
  info.memory_bytes = host_memory_bytes();
  info.compute_units = threads;
  info.features = {std::string{cpu_isa()}};
  info.unified_memory = true;
  info.host_addressable = true;
  for (std::size_t i = 0; i < dtype_count; ++i) info.dtypes.push_back(static_cast<DType>(i));
  return info;
}

CpuBackend::CpuBackend(CompletionSink& sink, std::shared_ptr<ComputePool> pool,
                       const Options& options)
    : info_{describe(pool->threads())},
      queue_{std::make_shared<JobQueue>(sink, std::move(pool), options.flush_subnormals)},
      options_{options} {}

CpuBackend::~CpuBackend() {
  if (fork_.forked())
    queue_->forget_threads();  // the jobs are the parent's, as are the threads that run them
  else
    queue_->close(options_.patience);
}

Result<std::unique_ptr<MemoryBlock>> CpuBackend::allocate(std::uint64_t bytes, MemoryKind kind) {
  STOKER_ASSIGN(auto memory, allocate_host_block(bytes, kind));
  return std::unique_ptr<MemoryBlock>{std::make_unique<CpuBlock>(std::move(memory), queue_)};
}

Result<std::shared_ptr<const Executable>> CpuBackend::prepare(std::shared_ptr<const Kernel> kernel,
                                                              const KernelCall& call,
                                                              std::span<const TensorSpec> outputs) {
  auto executable = std::make_shared<CpuExecutable>();
  executable->kernel = kernel->name;
  const bool empty =
      std::ranges::all_of(outputs, [](const TensorSpec& spec) { return spec.elements() == 0; });
  if (!empty) {
    const CpuPlanner* const planner = kernel->cpu ? &kernel->cpu : cpu_table().find(kernel->name);
    if (!planner) return no_cpu_version(kernel->name);
    STOKER_ASSIGN(executable->plan, (*planner)(call, outputs));
    if (executable->plan.scratch_bytes)
      executable->scratch_bytes = {executable->plan.scratch_bytes};
    // A plan without a guess is a user's kernel: it may take any time.
    if (executable->plan.cost_ns > 0) executable->cost_ns = executable->plan.cost_ns;
    std::uint32_t slices = 1;
    for (const CpuStage& stage : executable->plan.stages) slices = std::max(slices, stage.slices);
    executable->shared_cost_ns = executable->cost_ns / std::min(slices, info_.compute_units);
  } else {
    executable->cost_ns = 0;
    executable->shared_cost_ns = 0;
  }
  return std::shared_ptr<const Executable>{std::move(executable)};
}

Result<std::unique_ptr<Recording>> CpuBackend::record(std::span<const Step> steps) {
  recordings_.fetch_add(1, std::memory_order_relaxed);
  return std::unique_ptr<Recording>{std::make_unique<CpuRecording>(queue_->make_job(steps))};
}

bool CpuBackend::rebind(Recording& recording, std::span<const Step> steps) noexcept {
  static_cast<CpuRecording&>(recording).job->rebind(steps);
  return true;
}

Result<void> CpuBackend::submit(const Submission& submission) {
  submissions_.fetch_add(1, std::memory_order_relaxed);
  queue_->submit(submission.recording ? static_cast<CpuRecording*>(submission.recording)->job
                                      : queue_->make_job(submission.steps),
                 submission);
  return {};
}

bool CpuBackend::run_at_once(std::span<const Step> steps, std::optional<Error>& failure) {
  submissions_.fetch_add(1, std::memory_order_relaxed);
  const FlushSubnormals mode{options_.flush_subnormals};
  boost::container::small_vector<void*, 16> pointers;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    if (step.kind == StepKind::copy) {
      const std::uint64_t bytes = step.outputs[0].bytes;
      if (bytes > 0) std::memcpy(step.outputs[0].host(), step.inputs[0].host(), bytes);
      continue;
    }
    pointers.clear();
    for (const MemoryView& view : step.inputs) pointers.push_back(view.host());
    for (const MemoryView& view : step.outputs) pointers.push_back(view.host());
    const auto& executable = static_cast<const CpuExecutable&>(*step.executable);
    const CpuArgs args{pointers.data(), pointers.data() + step.inputs.size(),
                       step.scratch.empty() ? nullptr : step.scratch[0].host()};
    try {
      for (const CpuStage& stage : executable.plan.stages)
        for (std::uint32_t slice = 0; slice < stage.slices; ++slice) stage.run(args, slice);
    } catch (...) {
      failure = error_from_current_exception(executable.kernel).with("step", std::to_string(i));
      return true;
    }
  }
  return true;
}

bool CpuBackend::wait(QueuePoint point, std::chrono::steady_clock::time_point deadline) noexcept {
  return queue_->wait(point.value, deadline);
}

BackendCounters CpuBackend::counters() const noexcept {
  BackendCounters counters;
  counters.submissions = submissions_.load(std::memory_order_relaxed);
  counters.recordings = recordings_.load(std::memory_order_relaxed);
  return counters;
}

}  // namespace stoker::device::cpu
