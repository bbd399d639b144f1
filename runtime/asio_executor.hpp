// Runs Stoker's work on the host's event loop: any Asio executor (an io_context's, a strand's, a
// thread pool's). Starts no thread of its own.
//
// Lifetime: this object outlives the tasks given to it. A context that is destroyed with tasks
//           still queued drops them (Task::drop); nothing may be posted afterwards.
// Threads:  tasks run on whatever threads run the host's loop. If there are several, tasks run at
//           the same time on them, as on a pool.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "stoker/runtime/executor.hpp"
#include "stoker/runtime/kept_tasks.hpp"

namespace stoker {

namespace detail {
template <class Host> class PostedTask;
}

class AsioExecutor final : public Executor {
 public:
  /// `clock` outlives this object; AsioClock (asio_clock.hpp) is one that starts no thread.
  AsioExecutor(boost::asio::any_io_executor executor, Clock& clock);

  using Executor::post;
  void post(Task& task) noexcept override;
  void defer(Task& task) noexcept override;
  [[nodiscard]] bool in_executor() const noexcept override;
  [[nodiscard]] Clock& clock() const noexcept override { return *clock_; }

  [[nodiscard]] const boost::asio::any_io_executor& asio() const noexcept { return executor_; }

 private:
  friend class detail::PostedTask<AsioExecutor>;
  void execute(Task& task) noexcept;

  boost::asio::any_io_executor executor_;
  Clock* clock_;
  detail::KeptTasks kept_;
};

}  // namespace stoker
