// Runs Stoker's work on the host's event loop: any Asio executor (an io_context's, a strand's, a
// thread pool's). Starts no thread of its own.
//
// Lifetime: what was given to it runs also if this object has gone. A context that is destroyed with
//           tasks still queued drops them (Task::drop); what is posted later is dropped by a thread of
//           its own, because a poster may hold locks. The host destroys its context while none of its
//           threads posts. After fork() the child's copy drops what it is given.
// Threads:  tasks run on whatever threads run the host's loop. If there are several, tasks run at
//           the same time on them, as on a pool.
// Errors:   without memory to post, a task runs with the next one that gets through.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "stoker/runtime/execution/executor.hpp"

namespace stoker {

class AsioExecutor final : public Executor {
 public:
  /// `clock` outlives this object; AsioClock (asio_clock.hpp) is one that starts no thread.
  AsioExecutor(boost::asio::any_io_executor executor, Clock& clock);
  ~AsioExecutor() override;

  using Executor::post;
  void post(Task& task) noexcept override;
  void defer(Task& task) noexcept override;
  [[nodiscard]] bool in_executor() const noexcept override;
  [[nodiscard]] Clock& clock() const noexcept override { return *clock_; }

 private:
  class Tasks;
  std::shared_ptr<Tasks> tasks_;
  Clock* clock_;
};

/// An executor that keeps its clock.
[[nodiscard]] std::shared_ptr<AsioExecutor> make_asio_executor(
    boost::asio::any_io_executor executor, std::shared_ptr<Clock> clock);

}  // namespace stoker
