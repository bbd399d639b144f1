// Stoker's own executor: a fixed number of threads that share one queue.
//
// Threads:  named "stoker/<n>"; they sleep while there is nothing to do and never spin.
// Order:    first in, first out, but for one task that a thread's task defers: that runs next on the
//           thread, and after 64 of them the others have their turn.
// Lifetime: the destructor runs everything that was posted, then joins. Destroy it from a thread
//           that is not its own. After fork() the child's copy has no threads: its destructor
//           leaves at once.
// Errors:   the constructor throws std::system_error if a thread cannot be started.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "stoker/runtime/execution/executor.hpp"

namespace stoker {

struct ThreadPoolOptions {
  unsigned threads = 0;         ///< 0: one per core this process may use, and at least two
  std::string name = "stoker";  ///< threads are named after it
};

class ThreadPool final : public Executor {
 public:
  /// `clock` must outlive the pool.
  explicit ThreadPool(Clock& clock, ThreadPoolOptions options = {});
  ~ThreadPool() override;

  using Executor::post;
  void post(Task& task) noexcept override;
  void defer(Task& task) noexcept override;
  [[nodiscard]] bool in_executor() const noexcept override;
  [[nodiscard]] Clock& clock() const noexcept override;
  /// For a pool of make_thread_pool() this works even after its last shared pointer is gone, for
  /// work that still runs on it.
  [[nodiscard]] std::shared_ptr<Executor> keep() noexcept override;

  [[nodiscard]] unsigned size() const noexcept;

 private:
  struct Impl;
  struct End;
  friend std::shared_ptr<ThreadPool> make_thread_pool(std::shared_ptr<Clock> clock,
                                                      ThreadPoolOptions options);
  std::unique_ptr<Impl> impl_;
};

/// A pool that keeps its clock alive and that any thread may release; a thread of the pool itself
/// passes it to another thread that destroys it. Posted tasks run first. They keep the pool alive
/// if they start work that continues later.
[[nodiscard]] std::shared_ptr<ThreadPool> make_thread_pool(std::shared_ptr<Clock> clock,
                                                           ThreadPoolOptions options = {});

}  // namespace stoker
