#include "stoker/runtime/thread_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "stoker/runtime/cores.hpp"
#include "stoker/runtime/fork_guard.hpp"
#include "stoker/runtime/kept_tasks.hpp"
#include "stoker/runtime/posted_task.hpp"
#include "stoker/runtime/process.hpp"
#include "stoker/runtime/thread_local.hpp"

namespace stoker {
namespace {

/// What a thread of a pool knows about itself.
struct Worker {
  ThreadPool* pool = nullptr;
  Task* next = nullptr;  // deferred: runs after the current task, on this thread
  bool in_task = false;
};

thread_local Worker this_worker;

}  // namespace

STOKER_THREAD_LOCAL_ACCESS static Worker& worker() noexcept { return this_worker; }

struct ThreadPool::Impl {
  Impl(ThreadPool& pool, Clock& time, unsigned size)
      : owner(&pool), clock(&time), context(static_cast<int>(size)) {}

  /// Runs a task and then those it deferred, up to a bound that keeps the pool fair.
  void execute(Task& first) noexcept {
    constexpr int chain_limit = 64;
    Worker& self = worker();
    self.in_task = true;
    Task* task = &first;
    for (int turn = 0; task != nullptr; ++turn) {
      task->run();
      task = turn < chain_limit ? std::exchange(self.next, nullptr) : nullptr;
    }
    self.in_task = false;
    if (Task* left = std::exchange(self.next, nullptr)) post(*left);
    kept.run_all();
  }

  void post(Task& task) noexcept {
    if (fork_guard.forked()) return task.drop();  // there are no threads
    posting.fetch_add(1, std::memory_order_relaxed);
    try {
      boost::asio::post(context, detail::PostedTask{*this, task});
    } catch (...) {
      kept.add(task);
    }
    posting.fetch_sub(1, std::memory_order_release);
  }

  /// A task may run, and end the pool, before the one who posted it has come out of post().
  void await_posts() const noexcept {
    while (posting.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  }

  void run_thread() noexcept {
    worker().pool = owner;
    for (;;) {
      try {
        context.run();
        return;
      } catch (...) {  // a handler that somebody posted to our io_context
        detail::log_escaped_exception("thread_pool");
      }
    }
  }

  ThreadPool* owner;
  Clock* clock;
  detail::KeptTasks kept;
  boost::asio::io_context context;
  ForkGuard fork_guard;
  std::atomic<std::uint32_t> posting{0};
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work;
  std::vector<std::jthread> threads;
};

ThreadPool::ThreadPool(Clock& clock, ThreadPoolOptions options) {
  const unsigned count = options.threads != 0 ? options.threads : std::max(2U, usable_cores());
  impl_ = std::make_unique<Impl>(*this, clock, count);
  Impl* impl = impl_.get();
  impl->work.emplace(impl->context.get_executor());
  impl->threads.reserve(count);
  try {
    for (unsigned i = 0; i < count; ++i) {
      impl->threads.emplace_back([impl] { impl->run_thread(); });
      // Linux keeps 15 characters.
      const std::string name = (options.name + "/" + std::to_string(i)).substr(0, 15);
      pthread_setname_np(impl->threads.back().native_handle(), name.c_str());
    }
  } catch (...) {
    impl->work.reset();
    impl->context.stop();
    throw;
  }
}

ThreadPool::~ThreadPool() {
  if (impl_->fork_guard.forked()) {
    // The threads are the parent's; joining them, or destroying what they hold, would hang.
    static_cast<void>(impl_.release());
    return;
  }
  impl_->work.reset();
  for (std::jthread& thread : impl_->threads) thread.join();
  impl_->await_posts();
}

void ThreadPool::post(Task& task) noexcept { impl_->post(task); }

void ThreadPool::defer(Task& task) noexcept {
  Worker& self = worker();
  // A process may run for long after this call.
  if (self.pool != this || !self.in_task || this_process::inside() || impl_->fork_guard.forked())
    return impl_->post(task);
  // One task may wait for this thread; the one before it goes where other threads find it.
  if (Task* before = std::exchange(self.next, &task)) impl_->post(*before);
}

bool ThreadPool::in_executor() const noexcept { return worker().pool == this; }
Clock& ThreadPool::clock() const noexcept { return *impl_->clock; }
boost::asio::io_context& ThreadPool::context() noexcept { return impl_->context; }
unsigned ThreadPool::size() const noexcept { return static_cast<unsigned>(impl_->threads.size()); }

namespace detail {
void flush_deferred() noexcept {
  Worker& self = worker();
  if (Task* task = std::exchange(self.next, nullptr)) self.pool->post(*task);
}
}  // namespace detail

std::shared_ptr<ThreadPool> make_thread_pool(std::shared_ptr<Clock> clock,
                                             ThreadPoolOptions options) {
  auto pool = std::make_unique<ThreadPool>(*clock, std::move(options));
  return {pool.release(), [clock = std::move(clock)](ThreadPool* ending) {
            std::unique_ptr<ThreadPool> owned{ending};
            if (!owned->in_executor()) return;
            // A thread cannot join itself.
            std::thread{[owned = std::move(owned), clock]() mutable { owned.reset(); }}.detach();
          }};
}

}  // namespace stoker
