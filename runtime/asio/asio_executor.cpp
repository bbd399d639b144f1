#include "stoker/runtime/asio/asio_executor.hpp"

#include <boost/asio/defer.hpp>
#include <boost/asio/post.hpp>
#include <mutex>
#include <thread>
#include <utility>

#include "stoker/runtime/asio/asio_end.hpp"
#include "stoker/runtime/base/fork_guard.hpp"
#include "stoker/runtime/base/thread_local.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker {
namespace {

/// What the loop's thread runs.
struct Running {
  const void* tasks = nullptr;
  bool brief = false;
};
thread_local Running running_here;

}  // namespace

STOKER_THREAD_LOCAL_ACCESS static Running& running() noexcept { return running_here; }

/// The tasks that wait, and a handler in the loop for each of them. A handler runs the oldest, so that
/// it need not know which: a loop that destroys its handlers loses no task.
class AsioExecutor::Tasks final : public AsioEnd, public std::enable_shared_from_this<Tasks> {
 public:
  explicit Tasks(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

  template <class Hand> void add(Task& task, Hand hand_over) noexcept {
    if (fork_.forked()) return task.drop();  // a thread of the parent may hold the lock
    const auto self = shared_from_this();    // the task may end its executor
    const std::lock_guard lock{mutex_};  // to the end, so that the context does not end meanwhile
    queue_.push(task);
    ++waiting_;
    if (ended_) return drop_later();
    try {
      hand_over(executor_, [self] { self->run(); });
      ++handlers_;
    } catch (...) {  // no memory: the next handler sees that there are more tasks than handlers
    }
  }

  void context_ends() noexcept override {
    boost::asio::any_io_executor let_go;  // a strand's needs its context to the end
    {
      const std::lock_guard lock{mutex_};
      ended_ = dropping_ = true;
      let_go.swap(executor_);
    }
    drop_all();
  }

 private:
  void run() noexcept {
    const Running before = running();
    for (Task* task = take(true); task != nullptr; task = take(false)) {
      running() = {this, task->brief};
      task->run();
    }
    running() = before;
  }
  /// The oldest task: the handler's own, or one that has none.
  Task* take(bool own) noexcept {
    const std::lock_guard lock{mutex_};
    if (own) --handlers_;
    return own || waiting_ > handlers_ ? pop() : nullptr;
  }
  Task* pop() noexcept {
    Task* task = queue_.pop();
    if (task != nullptr) --waiting_;
    return task;
  }

  void drop_later() noexcept {
    if (std::exchange(dropping_, true)) return;
    try {
      std::thread{[self = shared_from_this()] { self->drop_all(); }}.detach();
    } catch (...) {
      dropping_ = false;  // no thread: with the next one that comes too late
    }
  }
  void drop_all() noexcept {
    while (Task* task = pop_to_drop()) task->drop();
  }
  Task* pop_to_drop() noexcept {
    const std::lock_guard lock{mutex_};
    Task* task = pop();
    if (task == nullptr) dropping_ = false;
    return task;
  }

  const ForkGuard fork_;
  std::mutex mutex_;  // of what follows
  boost::asio::any_io_executor executor_;
  TaskQueue queue_;
  std::size_t waiting_ = 0;   // in the queue
  std::size_t handlers_ = 0;  // in the loop
  bool ended_ = false;        // the context
  bool dropping_ = false;     // somebody drops all that comes

  friend class AsioExecutor;
};

AsioExecutor::AsioExecutor(boost::asio::any_io_executor executor, Clock& clock)
    : tasks_(std::make_shared<Tasks>(std::move(executor))), clock_(&clock) {
  watch_end(tasks_->executor_, tasks_);
}

AsioExecutor::~AsioExecutor() = default;

void AsioExecutor::post(Task& task) noexcept {
  tasks_->add(task, [](const auto& executor, auto&& handler) {
    boost::asio::post(executor, std::forward<decltype(handler)>(handler));
  });
}

void AsioExecutor::defer(Task& task) noexcept {
  if (!in_executor() || !running().brief || this_process::inside()) return post(task);
  tasks_->add(task, [](const auto& executor, auto&& handler) {
    boost::asio::defer(executor, std::forward<decltype(handler)>(handler));
  });
}

bool AsioExecutor::in_executor() const noexcept { return running().tasks == tasks_.get(); }

std::shared_ptr<AsioExecutor> make_asio_executor(boost::asio::any_io_executor executor,
                                                 std::shared_ptr<Clock> clock) {
  auto made = std::make_unique<AsioExecutor>(std::move(executor), *clock);
  return {made.release(), [clock = std::move(clock)](AsioExecutor* ending) {
            const std::unique_ptr<AsioExecutor> owned{ending};
          }};
}

}  // namespace stoker
