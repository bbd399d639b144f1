// The threads that compute: one pool for a whole process, however many CPU devices and systems
// there are, so that they share the cores instead of fighting for them.
//
// Ready nodes stand in one queue. A thread claims a slice under the queue's lock (held for tens of
// nanoseconds; a slice is microseconds of work), runs it, and keeps the next small node for itself
// so that a chain of small kernels never changes threads. At most `threads()` threads compute at
// once: a caller that helps takes the place of a worker, for short slices only. An idle worker spins for some
// microseconds, for longer beside others at work or if the last work came just after it had gone to sleep,
// then sleeps.
//
// Threads: every function from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "stoker/device/cpu/job.hpp"
#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker::device::cpu {

class ComputePool {
 public:
  /// The process' pool; the first call decides the number of threads (0: one per core). It ends
  /// with its last user.
  [[nodiscard]] static std::shared_ptr<ComputePool> shared(unsigned threads = 0);

  explicit ComputePool(unsigned threads);
  /// Waits a bounded time for slices that run; a thread stuck in a user's kernel is left behind.
  ~ComputePool();
  ComputePool(const ComputePool&) = delete;
  ComputePool& operator=(const ComputePool&) = delete;

  [[nodiscard]] unsigned threads() const noexcept;

  void push(std::span<Node* const> ready);

  /// Runs slices on the calling thread until `done()` or until there is nothing to claim; true if
  /// `done()`. It claims what is guessed to be over soon and before `deadline`: what takes longer, or
  /// may take any time, would keep the caller from seeing that it need not wait any more.
  bool help(const std::function<bool()>& done, std::chrono::steady_clock::time_point deadline);

 private:
  struct State;
  static void work(const std::shared_ptr<State>& state, bool last, const std::stop_token& stop);
  std::shared_ptr<State> state_;  // shared with the threads, which may outlive the pool
  std::vector<std::jthread> workers_;
  const ForkGuard fork_;
};

}  // namespace stoker::device::cpu
