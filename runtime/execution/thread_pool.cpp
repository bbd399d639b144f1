#include "stoker/runtime/execution/thread_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "stoker/runtime/base/cores.hpp"
#include "stoker/runtime/base/fork_guard.hpp"
#include "stoker/runtime/base/thread_local.hpp"
#include "stoker/runtime/observe/log.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker {
namespace {

/// What a thread of a pool knows about itself.
struct Worker {
  ThreadPool* pool = nullptr;
  const Task* running = nullptr;  // a brief one; never looked into: it may be gone
  Task* next = nullptr;           // deferred: runs after the current task, on this thread
};

thread_local Worker this_worker;

/// Whether a task that is posted shall be run at once, or the posting thread is about to look for one.
enum class Wake : std::uint8_t { yes, unless_next };

}  // namespace

STOKER_THREAD_LOCAL_ACCESS static Worker& worker() noexcept { return this_worker; }

struct ThreadPool::Impl {
  Impl(ThreadPool& pool, Clock& time) : owner(&pool), clock(&time) {}
  ~Impl() { end(); }  // then the threads are joined, where not all of them could be started
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void post(Task& task, Wake wake = Wake::yes) noexcept {
    if (fork_guard.forked()) return task.drop();  // there are no threads
    {
      const std::lock_guard lock{mutex};
      const bool mine = wake == Wake::unless_next && queue.empty();
      queue.push(task);
      if (mine || sleeping == 0) return;
      --sleeping;
      ++woken;
      notifying.fetch_add(1, std::memory_order_relaxed);
    }
    // Without the lock, or the woken thread would have to wait for it.
    ready.notify_one();
    notifying.fetch_sub(1, std::memory_order_release);
  }

  /// A task may run, and end the pool, before the one who posted it has come out of post().
  void await_posts() const noexcept {
    while (notifying.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  }

  /// The next task; null when there is none and the pool ends.
  Task* take() noexcept {
    std::unique_lock lock{mutex};
    for (;;) {
      if (Task* task = queue.pop()) return task;
      if (ending) return nullptr;
      ++sleeping;
      if (awaited && idle()) all_sleep.notify_all();
      ready.wait(lock, [this] { return woken != 0 || ending; });
      --(woken != 0 ? woken : sleeping);
    }
  }

  /// Runs a task and then those it deferred, up to a bound that keeps the pool fair.
  void run(Task& first) noexcept {
    constexpr int chain_limit = 64;
    Worker& self = worker();
    Task* task = &first;
    for (int turn = 0; task != nullptr; ++turn) {
      self.running = task->brief ? task : nullptr;
      task->run();
      task = turn < chain_limit ? std::exchange(self.next, nullptr) : nullptr;
    }
    self.running = nullptr;
    if (Task* left = std::exchange(self.next, nullptr)) post(*left, Wake::unless_next);
  }

  void run_thread() noexcept {
    worker().pool = owner;
    while (Task* task = take()) run(*task);
  }

  /// Under the lock, and not before all threads are there.
  [[nodiscard]] bool idle() const noexcept { return queue.empty() && sleeping == threads.size(); }
  void await_idle() noexcept {
    std::unique_lock lock{mutex};
    awaited = true;
    all_sleep.wait(lock, [this] { return idle(); });
  }

  void end() noexcept {
    const std::lock_guard lock{mutex};
    ending = true;
    ready.notify_all();
  }

  /// A share, a new one if none is left. Null without memory, or if make_thread_pool() did not make it.
  [[nodiscard]] std::shared_ptr<ThreadPool> share() noexcept;
  /// Whether the last one has been given back.
  [[nodiscard]] bool unshare() noexcept {
    const std::lock_guard lock{share_mutex};
    return --shares == 0;
  }

  ThreadPool* owner;
  Clock* clock;
  ForkGuard fork_guard;
  mutable std::mutex mutex;  // of what follows
  std::condition_variable ready;
  std::condition_variable all_sleep;
  TaskQueue queue;
  unsigned sleeping = 0;  // threads that nobody has woken
  unsigned woken = 0;     // threads that have not noticed yet
  bool awaited = false;   // that it is idle
  bool ending = false;
  std::atomic<unsigned> notifying{0};  // threads that wake one, after the lock

  std::shared_ptr<Clock> shared_clock;  // of make_thread_pool()
  std::mutex share_mutex;               // of what follows
  std::weak_ptr<ThreadPool> shared;     // the newest share and its copies
  unsigned shares = 0;                  // those that were not given back
  std::vector<std::jthread> threads;
};

ThreadPool::ThreadPool(Clock& clock, ThreadPoolOptions options)
    : impl_{std::make_unique<Impl>(*this, clock)} {
  const unsigned count = options.threads != 0 ? options.threads : std::max(2U, usable_cores());
  Impl* impl = impl_.get();
  impl->threads.reserve(count);
  for (unsigned i = 0; i < count; ++i) {
    impl->threads.emplace_back([impl] { impl->run_thread(); });
    // Linux keeps 15 characters.
    const std::string name = (options.name + "/" + std::to_string(i)).substr(0, 15);
    pthread_setname_np(impl->threads.back().native_handle(), name.c_str());
  }
}

ThreadPool::~ThreadPool() {
  if (impl_->fork_guard.forked()) {
    // The threads are the parent's; joining them, or destroying what they hold, would hang.
    static_cast<void>(impl_.release());
    return;
  }
  impl_->end();
  for (std::jthread& thread : impl_->threads) thread.join();
  impl_->await_posts();
}

void ThreadPool::post(Task& task) noexcept { impl_->post(task); }

void ThreadPool::defer(Task& task) noexcept {
  Worker& self = worker();
  // A process may run for long after this call, as any task may that is not brief.
  if (self.pool != this || self.running == nullptr || this_process::inside() ||
      impl_->fork_guard.forked())
    return impl_->post(task);
  // Behind all others; this thread looks for the next one at once, unless it has one.
  if (self.running == &task) return impl_->post(task, self.next ? Wake::yes : Wake::unless_next);
  // One task may wait for this thread; the one before it goes where other threads find it.
  if (Task* before = std::exchange(self.next, &task)) impl_->post(*before);
}

bool ThreadPool::in_executor() const noexcept { return worker().pool == this; }
Clock& ThreadPool::clock() const noexcept { return *impl_->clock; }
unsigned ThreadPool::size() const noexcept { return static_cast<unsigned>(impl_->threads.size()); }

namespace detail {
void flush_deferred() noexcept {
  Worker& self = worker();
  if (Task* task = std::exchange(self.next, nullptr)) self.pool->post(*task);
}
}  // namespace detail

/// Gives a share back when its last copy goes and the pool is idle; the last share ends the pool.
struct ThreadPool::End {
  std::shared_ptr<Clock> clock;  ///< needed to the end of the pool
  bool counted = false;          ///< else nobody has got the share

  void operator()(ThreadPool* pool) const noexcept {
    if (!counted) return;
    if (pool->in_executor()) return elsewhere(pool);
    if (!pool->impl_->fork_guard.forked()) {
      // What still runs may keep the pool (Executor::keep), by a new share.
      pool->impl_->await_idle();
      if (!pool->impl_->unshare()) return;
    }
    const std::unique_ptr<ThreadPool> ending{pool};
  }
  /// A thread cannot join itself.
  void elsewhere(ThreadPool* pool) const noexcept {
    try {
      std::thread{[pool, end = *this] { end(pool); }}.detach();
    } catch (...) {
      log_error("no thread to end a pool: it is left behind");
    }
  }
};

std::shared_ptr<ThreadPool> ThreadPool::Impl::share() noexcept {
  if (!shared_clock || fork_guard.forked()) return nullptr;
  const std::lock_guard lock{share_mutex};
  if (auto there = shared.lock()) return there;
  try {
    std::shared_ptr<ThreadPool> made{owner, End{shared_clock}};
    std::get_deleter<End>(made)->counted = true;
    ++shares;
    shared = made;
    return made;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

std::shared_ptr<Executor> ThreadPool::keep() noexcept {
  if (auto share = impl_->share()) return share;
  return Executor::keep();
}

std::shared_ptr<ThreadPool> make_thread_pool(std::shared_ptr<Clock> clock,
                                             ThreadPoolOptions options) {
  auto pool = std::make_unique<ThreadPool>(*clock, std::move(options));
  pool->impl_->shared_clock = std::move(clock);
  auto share = pool->impl_->share();
  if (!share) throw std::bad_alloc{};
  static_cast<void>(pool.release());
  return share;
}

}  // namespace stoker
