#include "stoker/runtime/asio_executor.hpp"

#include <boost/asio/defer.hpp>
#include <boost/asio/post.hpp>

#include "stoker/runtime/posted_task.hpp"
#include "stoker/runtime/thread_local.hpp"

namespace stoker {
namespace {
thread_local const Executor* running_here = nullptr;
}

STOKER_THREAD_LOCAL_ACCESS static const Executor*& running() noexcept { return running_here; }

AsioExecutor::AsioExecutor(boost::asio::any_io_executor executor, Clock& clock)
    : executor_(std::move(executor)), clock_(&clock) {}

void AsioExecutor::post(Task& task) noexcept {
  try {
    boost::asio::post(executor_, detail::PostedTask<AsioExecutor>{*this, task});
  } catch (...) {
    kept_.add(task);
  }
}

void AsioExecutor::defer(Task& task) noexcept {
  try {
    boost::asio::defer(executor_, detail::PostedTask<AsioExecutor>{*this, task});
  } catch (...) {
    kept_.add(task);
  }
}

bool AsioExecutor::in_executor() const noexcept { return running() == this; }

void AsioExecutor::execute(Task& task) noexcept {
  const Executor* before = std::exchange(running(), this);
  kept_.run_all();
  task.run();
  // Nothing of this object is touched from here on: the task may have ended its last user.
  running() = before;
}

}  // namespace stoker
