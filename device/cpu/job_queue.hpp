// The submissions of a CPU device, from submit() to their report.
//
//     waiting ──(points reached)──▶ running on the pool ──▶ done ──(in the queue's order)──▶ reported
//                                          └──(close() has no patience left)──▶ abandoned
//
// Abandoned jobs cannot be stopped: a thread of the pool may be inside a kernel. They, their queue and
// the memory that is freed meanwhile stay until they end by themselves, or for ever; nobody is told.
//
// Ownership: the backend's. Jobs refer to it weakly, but a thread that ends one shares it until it has
// left: the sink may drop the backend from inside a report.
// Threads: submit by one at a time, the rest any. The sink is called without a lock, by one thread at a
// time, and not once close() has returned; a call that outlasts its patience may still be inside.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "stoker/device/cpu/compute_pool.hpp"
#include "stoker/runtime/queue/ring.hpp"

namespace stoker::device::cpu {

class JobQueue final : public JobOwner, public std::enable_shared_from_this<JobQueue> {
 public:
  /// `flush_subnormals`: of all jobs.
  JobQueue(CompletionSink& sink, std::shared_ptr<ComputePool> pool, bool flush_subnormals);

  /// Ready to be submitted, again and again.
  [[nodiscard]] std::shared_ptr<Job> make_job(std::span<const Step> steps);
  /// `job` is idle. Of `submission` only the point, the waits and what to note are used. A few
  /// microseconds of work on an idle device run here and now, and are reported from inside.
  void submit(std::shared_ptr<Job> job, const Submission& submission);
  /// As Backend::wait().
  bool wait(std::uint64_t value, std::chrono::steady_clock::time_point deadline) noexcept;

  /// Waits until all submissions are done, and reported unless the caller is inside a report; abandons
  /// what is not after `patience`. Nothing else is called afterwards but free().
  void close(std::chrono::nanoseconds patience) noexcept;
  /// In a forked child the threads do not exist: leaves everything as it is.
  void forget_threads() noexcept;
  /// Destroys memory of this device: now, or once no abandoned job can touch it.
  void free(std::unique_ptr<MemoryBlock> block) noexcept;

 private:
  /// A submission between submit() and its report.
  struct Flight {
    std::uint64_t value = 0;
    std::uint64_t waits_for = 0;
    std::shared_ptr<Job> job;
    bool timed = false;
    std::atomic<std::uint32_t>* progress = nullptr;
    StopSign* stop = nullptr;
    bool started = false;
    bool done = false;
  };

  /// What is left behind once closed: freed outside the lock.
  struct Rest {
    Ring<Flight> flights;
    std::vector<std::unique_ptr<MemoryBlock>> memory;
    std::shared_ptr<JobQueue> self;
  };

  void run_here(Job& job);
  void on_job_done(Job& job) noexcept override;
  /// Starts what may start; called with the lock held, pushes after releasing it.
  void collect_startable(ReadyNodes& ready);
  void report(std::unique_lock<std::mutex>& lock);
  /// Everything, if no job runs any more; else nothing.
  [[nodiscard]] Rest take_rest() noexcept;

  CompletionSink& sink_;
  const ForkGuard fork_;
  const bool flush_subnormals_;
  std::mutex mutex_;
  std::condition_variable changed_;    // completed_, reporter_, or a flight that is done
  std::shared_ptr<ComputePool> pool_;  // until close()
  Ring<Flight> flights_;               // once closed: the abandoned ones
  std::thread::id reporter_{};         // who calls the sink; nobody's if none does
  bool closed_ = false;
  std::uint64_t reported_ = 0;  // the highest value taken out of flights_
  ReadyNodes ready_;            // of submit(), which one thread calls at a time
  std::atomic<std::uint64_t> completed_{0};
  std::atomic<bool> abandoned_{false};              // some jobs were
  std::shared_ptr<JobQueue> self_;                  // while they run
  std::vector<std::unique_ptr<MemoryBlock>> kept_;  // while they run
};

}  // namespace stoker::device::cpu
