// The CPU as a device: the embedded default where there is no GPU.
//
// Submissions become jobs of the compute pool, which stand in a JobQueue until they are reported.
//
// Lifetime: may end on any thread, also inside a report of its own. It waits for work in flight for a
// limited time; what still runs then goes on with the memory it was given, even if that is freed.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "stoker/device/backend.hpp"
#include "stoker/device/cpu/job_queue.hpp"
#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker::device::cpu {

class CpuBackend final : public Backend {
 public:
  struct Options {
    std::chrono::nanoseconds patience = std::chrono::seconds{5};  ///< how long the destructor waits
    bool flush_subnormals = false;                                ///< as in OpenOptions
  };
  CpuBackend(CompletionSink& sink, std::shared_ptr<ComputePool> pool, const Options& options);
  CpuBackend(CompletionSink& sink, std::shared_ptr<ComputePool> pool)
      : CpuBackend{sink, std::move(pool), Options{}} {}
  ~CpuBackend() override;

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Result<std::unique_ptr<MemoryBlock>> allocate(std::uint64_t bytes,
                                                              MemoryKind kind) override;
  [[nodiscard]] Result<std::shared_ptr<const Executable>> prepare(
      std::shared_ptr<const Kernel> kernel, const KernelCall& call,
      std::span<const TensorSpec> outputs) override;
  [[nodiscard]] Result<std::unique_ptr<Recording>> record(std::span<const Step> steps) override;
  [[nodiscard]] bool rebind(Recording& recording, std::span<const Step> steps) noexcept override;
  [[nodiscard]] Result<void> submit(const Submission& submission) override;
  [[nodiscard]] bool run_at_once(std::span<const Step> steps,
                                 std::optional<Error>& failure) override;
  bool wait(QueuePoint point, std::chrono::steady_clock::time_point deadline) noexcept override;
  [[nodiscard]] BackendCounters counters() const noexcept override;

  [[nodiscard]] static DeviceInfo describe(unsigned threads);

 private:
  const DeviceInfo info_;
  const std::shared_ptr<JobQueue> queue_;
  const Options options_;
  const ForkGuard fork_;
  std::atomic<std::uint64_t> submissions_{0};
  std::atomic<std::uint64_t> recordings_{0};
};

}  // namespace stoker::device::cpu
