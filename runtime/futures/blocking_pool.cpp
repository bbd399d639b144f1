#include "stoker/runtime/futures/blocking_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "stoker/runtime/base/cores.hpp"
#include "stoker/runtime/base/fork_guard.hpp"
#include "stoker/runtime/base/thread_local.hpp"

namespace stoker {
namespace {

thread_local const void* pool_of_thread = nullptr;

STOKER_THREAD_LOCAL_ACCESS const void* pool_here() noexcept { return pool_of_thread; }

Error pool_closed() noexcept {
  return error_or_out_of_memory([] {
    return Error{"run_blocking", ErrorCode::closed, "the system was stopped"};
  });
}

}  // namespace

/// Held by the pool, by its threads and by jobs that wait for their input.
struct BlockingPool::Impl : std::enable_shared_from_this<BlockingPool::Impl> {
  using Job = detail::BlockingJob;

  explicit Impl(BlockingOptions given) : limits{given} {
    if (limits.threads == 0) limits.threads = std::max(2U, usable_cores());
    // So that starting one needs no more memory than the thread itself.
    threads.reserve(limits.threads);
    running.resize(limits.threads);
  }

  /// Under the lock. Throws std::system_error.
  void add_thread() {
    const std::size_t index = threads.size();
    threads.emplace_back([self = shared_from_this(), index] { self->serve(index); });
    const std::string name = "stoker/block/" + std::to_string(index);
    pthread_setname_np(threads.back().native_handle(), name.substr(0, 15).c_str());
  }

  void serve(std::size_t index) noexcept {
    pool_of_thread = this;
    while (Job* job = take(index)) {
      const boost::intrusive_ptr<FutureCore> kept{&job->core(), false};
      job->compute();
      {
        // Before anybody hears of it: who asks again because this one is done finds the place free.
        const std::lock_guard lock{mutex};
        --admitted;
      }
      job->publish();
      finish(index);
    }
  }

  /// The next job; null when the pool is closed.
  Job* take(std::size_t index) noexcept {
    std::unique_lock lock{mutex};
    ready.wait(lock, [this] { return head != nullptr || closed; });
    Job* job = head;
    if (job == nullptr) return nullptr;
    head = job->next;
    if (head == nullptr) tail = nullptr;
    running[index] = job;
    ++busy;
    return job;
  }

  void finish(std::size_t index) noexcept {
    {
      const std::lock_guard lock{mutex};
      running[index] = nullptr;
      --busy;
      if (!closed || busy != 0) return;
    }
    ended.set();
  }

  Result<void> admit() {
    STOKER_TRY(fork.check("run_blocking"));
    const std::lock_guard lock{mutex};
    if (closed) return pool_closed();
    const auto refused = [&](const char* reason) {
      return Error{
          "run_blocking",
          ErrorCode::overloaded,
          reason,
          {{"threads", std::to_string(limits.threads)}, {"queue", std::to_string(limits.queue)}}};
    };
    if (admitted >= limits.threads && admitted - limits.threads >= limits.queue)
      return refused("every thread for blocking work is busy and the queue is full");
    if (threads.size() < limits.threads && threads.size() <= admitted) try {
        add_thread();
      } catch (const std::system_error&) {
        if (threads.empty()) return refused("no thread can be started");
      }
    ++admitted;
    return {};
  }

  void start(Job& job) noexcept {
    {
      const std::lock_guard lock{mutex};
      if (!closed) {
        intrusive_ptr_add_ref(&job.core());
        job.next = nullptr;
        (tail ? tail->next : head) = &job;
        tail = &job;
        ready.notify_one();
        return;
      }
      --admitted;
    }
    job.fail(pool_closed());
  }

  Future<void> close() noexcept {
    if (fork.forked()) return ended.future();  // has failed there
    Job* waiting = nullptr;
    bool idle = false;
    {
      const std::lock_guard lock{mutex};
      waiting = std::exchange(head, nullptr);
      tail = nullptr;
      for (const Job* job = waiting; job != nullptr; job = job->next) --admitted;
      idle = busy == 0;
      closed = true;
      ready.notify_all();
    }
    if (idle) ended.set();
    while (waiting != nullptr) {
      const boost::intrusive_ptr<FutureCore> kept{&waiting->core(), false};
      std::exchange(waiting, waiting->next)->fail(pool_closed());
    }
    return ended.future();
  }

  void leave(Tell tell) noexcept {
    if (fork.forked()) return;  // the threads are the parent's
    std::vector<std::thread> leaving;
    {
      const std::lock_guard lock{mutex};
      leaving.swap(threads);
    }
    const bool all = ended.future().ready();
    for (std::thread& thread : leaving) all ? thread.join() : thread.detach();
    if (!all && tell == Tell::yes) fail_running();
  }

  void fail_running() noexcept {
    for (std::size_t index = 0; index < running.size(); ++index) {
      boost::intrusive_ptr<FutureCore> kept;
      Job* job = nullptr;
      {
        const std::lock_guard lock{mutex};
        job = running[index];
        if (job != nullptr) kept.reset(&job->core());
      }
      // Not under the lock: who waits for this job may be a job itself.
      if (job != nullptr) job->fail(pool_closed());
    }
  }

  BlockingOptions limits;
  const ForkGuard fork;
  mutable std::mutex mutex;  // of what follows
  std::condition_variable ready;
  Job* head = nullptr;  // the queue
  Job* tail = nullptr;
  std::size_t admitted = 0;  // jobs that wait for their input, for a thread, or run
  std::size_t busy = 0;      // threads that have a job
  bool closed = false;
  Promise<void> ended;  // closed, and nothing runs
  std::vector<std::thread> threads;
  std::vector<Job*> running;  // one entry for each thread
};

BlockingPool::BlockingPool(BlockingOptions options) : impl_{std::make_shared<Impl>(options)} {}

BlockingPool::~BlockingPool() {
  if (impl_->fork.forked()) {
    // Threads and locks are the parent's.
    static_cast<void>(std::make_unique<std::shared_ptr<Impl>>(impl_).release());
    return;
  }
  static_cast<void>(close());
  leave(Tell::no);
}

Result<void> BlockingPool::admit(Impl& impl) { return impl.admit(); }
void BlockingPool::give_back(Impl& impl) noexcept {
  const std::lock_guard lock{impl.mutex};
  --impl.admitted;
}
void BlockingPool::start(Impl& impl, detail::BlockingJob& job) noexcept { impl.start(job); }

BlockingOptions BlockingPool::limits() const noexcept { return impl_->limits; }
std::size_t BlockingPool::jobs() const noexcept {
  if (impl_->fork.forked()) return 0;  // a thread of the parent may hold the lock
  const std::lock_guard lock{impl_->mutex};
  return impl_->admitted;
}
bool BlockingPool::in_pool() const noexcept { return pool_here() == impl_.get(); }
Future<void> BlockingPool::close() noexcept { return impl_->close(); }
void BlockingPool::leave(Tell tell) noexcept { impl_->leave(tell); }

}  // namespace stoker
