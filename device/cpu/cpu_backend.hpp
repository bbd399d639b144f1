// The CPU as a device: the embedded default where there is no GPU.
//
// Submissions become jobs of the compute pool. A job starts when the points it waits for are
// complete, so independent submissions overlap; completions are reported in the order of the queue.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "stoker/device/backend.hpp"
#include "stoker/device/cpu/compute_pool.hpp"
#include "stoker/runtime/fork_guard.hpp"
#include "stoker/runtime/ring.hpp"

namespace stoker::device::cpu {

class CpuBackend final : public Backend, public JobOwner {
 public:
  CpuBackend(CompletionSink& sink, std::shared_ptr<ComputePool> pool);
  ~CpuBackend() override;

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Result<std::unique_ptr<MemoryBlock>> allocate(std::uint64_t bytes,
                                                              MemoryKind kind) override;
  [[nodiscard]] Result<std::shared_ptr<const Executable>> prepare(
      std::shared_ptr<const Kernel> kernel, const KernelCall& call,
      std::span<const TensorSpec> outputs) override;
  [[nodiscard]] Result<std::unique_ptr<Recording>> record(std::span<const Step> steps) override;
  [[nodiscard]] Result<void> submit(const Submission& submission) override;
  bool wait(QueuePoint point, std::chrono::steady_clock::time_point deadline) noexcept override;
  [[nodiscard]] BackendCounters counters() const noexcept override;

  [[nodiscard]] static DeviceInfo describe(unsigned threads);

 private:
  /// A submission between submit() and its report.
  struct Flight {
    std::uint64_t value = 0;
    std::uint64_t waits_for = 0;
    Job* job = nullptr;
    std::unique_ptr<Job> own;  // of submissions without a recording
    bool timed = false;
    std::atomic<std::uint32_t>* progress = nullptr;
    bool started = false;
    bool done = false;
  };

  void on_job_done(Job& job) noexcept override;
  /// Starts what may start; called with the lock held, pushes after releasing it.
  void collect_startable(ReadyNodes& ready);
  void report(std::unique_lock<std::mutex>& lock);

  CompletionSink& sink_;
  const std::shared_ptr<ComputePool> pool_;
  const DeviceInfo info_;

  const ForkGuard fork_;
  std::mutex mutex_;
  std::condition_variable completed_changed_;
  Ring<Flight> flights_;
  bool reporting_ = false;
  std::uint64_t reported_ = 0;  ///< the highest value taken out of flights_
  ReadyNodes ready_;            // of submit(), which one thread calls at a time
  std::atomic<std::uint64_t> completed_{0};
  std::atomic<std::uint64_t> submissions_{0};
  std::atomic<std::uint64_t> recordings_{0};
};

}  // namespace stoker::device::cpu
