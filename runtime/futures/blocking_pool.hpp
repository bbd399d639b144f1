// A bounded pool of threads for work that must not run on an event loop or in an actor because it
// blocks or computes for long: a program's own (System::run_blocking) and the image codecs
// (api/image.hpp).
//
// At most `threads` jobs run and `queue` more wait, first in, first out. Any further job is refused
// at once: overload shows as the error `overloaded`, not as growing memory.
//
// Threads: any may ask. Jobs run on threads of the pool, which are started as work comes; there
//            they may block, also on futures. A job must not wait for another job: if all threads
//            do so, the pool deadlocks.
// Lifetime: an accepted job runs even if its future is dropped. Its captures are destroyed before
//            the future is ready. close() and the destructor refuse new jobs and fail waiting ones.
// Errors: a job's exception goes into its future. run() and run_after() throw overloaded, closed
//            and forked_process; then no job was accepted.
// Cancelling: future.cancel() completes the future with `cancelled` at once. A waiting job then
//            never runs, but keeps its place in the queue until a thread reaches it; a running job
//            continues, and its result is dropped.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "stoker/runtime/futures/future.hpp"

namespace stoker {

struct BlockingOptions {
  /// The most threads. 0: one per core that the process may use, and at least two.
  unsigned threads = 0;
  /// Jobs that may wait for a thread.
  std::size_t queue = 256;
};

namespace detail {

/// A job as the pool sees it. The pool holds a reference to core() from start() until the outcome is
/// published.
class BlockingJob {
 public:
  /// compute() does the work, then publish() makes its outcome visible. Each is called once, in
  /// this order.
  virtual void compute() noexcept = 0;
  virtual void publish() noexcept = 0;
  /// Called instead of both, or while compute() still runs if that takes too long.
  virtual void fail(const Error& why) noexcept = 0;
  [[nodiscard]] virtual FutureCore& core() noexcept = 0;

  BlockingJob* next = nullptr;  ///< used by the queue that holds the job

 protected:
  ~BlockingJob() = default;
};

}  // namespace detail

class BlockingPool {
 public:
  explicit BlockingPool(BlockingOptions options = {});
  /// close() and leave().
  ~BlockingPool();
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;

  /// Calls function() on a thread of the pool. The future holds what it returns (U, void or Result<U>).
  template <class F>
  auto run(F&& function) -> Future<unwrapped_t<std::invoke_result_t<std::decay_t<F>&>>>;

  /// Calls function(const Result<T>&) there once the Future<T> that ask() gives is ready. The place
  /// is reserved first, so a full pool refuses this call, before ask() is called, and not the work
  /// later.
  template <class Ask, class F>
  requires(std::invocable<Ask&>) auto run_after(Ask&& ask, F&& function);
  /// The same for an existing future.
  template <class T, class F> auto run_after(const Future<T>& input, F&& function) {
    return run_after([&] { return input; }, std::forward<F>(function));
  }

  /// The resolved number of threads, and the length of the queue.
  [[nodiscard]] BlockingOptions limits() const noexcept;
  /// Jobs that run or wait; none in a child of fork().
  [[nodiscard]] std::size_t jobs() const noexcept;
  /// Whether the calling thread is one of the pool's.
  [[nodiscard]] bool in_pool() const noexcept;

  /// Refuses jobs from now on and fails those that wait (`closed`). Ready when no job runs any
  /// more. In a child of fork() it only returns forked_process, and leave() does nothing.
  Future<void> close() noexcept;
  /// Whether leave() ends the futures of jobs that still run.
  enum class Tell : std::uint8_t { no, yes };
  /// After close(): detaches the threads. A job that still runs is abandoned and ends by itself;
  /// with Tell::yes its future fails with `closed`.
  void leave(Tell tell) noexcept;

 private:
  struct Impl;
  template <class U, class F> class Job;
  template <class T, class U, class F> class JobAfter;

  /// A reserved place for one job. It is released unless a job takes it.
  class Place {
   public:
    explicit Place(Impl& impl) : impl_{&impl} { admit(impl).value(); }
    ~Place() {
      if (impl_) give_back(*impl_);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    void take() noexcept { impl_ = nullptr; }

   private:
    Impl* impl_;
  };

  /// Reserves a place, so that start() needs no memory.
  [[nodiscard]] static Result<void> admit(Impl& impl);
  static void give_back(Impl& impl) noexcept;
  static void start(Impl& impl, detail::BlockingJob& job) noexcept;

  const std::shared_ptr<Impl> impl_;
};

template <class U, class F>
class BlockingPool::Job : public FutureState<U>, public detail::BlockingJob {
 public:
  explicit Job(F function) : function_{std::move(function)} {}

 protected:
  void compute() noexcept override {
    if (!this->ready()) outcome_.emplace(detail::call_as_result<U>("run_blocking", *function_));
    function_.reset();
  }
  void publish() noexcept override {
    if (outcome_) this->complete(std::move(*outcome_));
    outcome_.reset();
  }
  void fail(const Error& why) noexcept override { this->complete(why); }
  FutureCore& core() noexcept override { return *this; }
  void cancel() noexcept override {
    this->complete(error_or_out_of_memory([] { return cancelled(); }));
  }

 private:
  [[nodiscard]] static Error cancelled() {
    return {"run_blocking", ErrorCode::cancelled, "cancelled"};
  }
  std::optional<F> function_;
  std::optional<Result<U>> outcome_;
};

template <class T, class U, class F>
class BlockingPool::JobAfter final : public BlockingPool::Job<U, F>, private Waiter {
 public:
  JobAfter(std::shared_ptr<Impl> impl, F function)
      : Job<U, F>{std::move(function)}, impl_{std::move(impl)} {}

  void start_after(const Future<T>& input) noexcept {
    intrusive_ptr_add_ref(this);
    input.on_ready(static_cast<Waiter&>(*this));
  }

 private:
  void wake() noexcept override {
    const boost::intrusive_ptr<JobAfter> self{this, false};
    const std::shared_ptr<Impl> impl = std::move(impl_);
    BlockingPool::start(*impl, *this);
  }
  std::shared_ptr<Impl> impl_;
};

template <class F>
auto BlockingPool::run(F&& function)
    -> Future<unwrapped_t<std::invoke_result_t<std::decay_t<F>&>>> {
  using U = unwrapped_t<std::invoke_result_t<std::decay_t<F>&>>;
  using State = Job<U, std::decay_t<F>>;
  Place place{*impl_};
  const boost::intrusive_ptr<State> state{new State{std::forward<F>(function)}};  // NOLINT
  place.take();
  start(*impl_, *state);
  return Future<U>{state};
}

template <class Ask, class F>
requires(std::invocable<Ask&>) auto BlockingPool::run_after(Ask&& ask, F&& function) {
  using T = typename std::remove_cvref_t<std::invoke_result_t<Ask&>>::value_type;
  using U = unwrapped_t<std::invoke_result_t<std::decay_t<F>&, const Result<T>&>>;
  Place place{*impl_};
  const Future<T> input = ask();
  auto called = [input, function = std::forward<F>(function)]() mutable -> decltype(auto) {
    return std::invoke(function, *input.poll());
  };
  using State = JobAfter<T, U, decltype(called)>;
  const boost::intrusive_ptr<State> state{new State{impl_, std::move(called)}};  // NOLINT
  place.take();
  state->start_after(input);
  return Future<U>{state};
}

}  // namespace stoker
