// Future and Promise: a value or an Error that arrives later, once, for any number of readers.
//
// Ownership: handles; copying a Future shares the state, dropping one never stops the work.
// Threads:   every function may be called from any thread. Waiting parks a process or a fiber and
//            blocks a plain thread. A continuation runs on the executor it was given. If it
//            becomes ready inside an actor's handler or another continuation on that executor, it
//            runs after that. Keep both short; neither may wait.
// Lifetime:  references and pointers handed out live as long as any handle of the future.
// Errors:    wait, poll and then give the Result; get and co_await throw the Error. A Promise that
//            is dropped completes with `closed` ("broken promise"). Failures that nobody observed
//            are logged.
// See also:  when.hpp (when_all, when_any), runtime/asio/future_asio.hpp (completion tokens).
#pragma once

#include <chrono>
#include <concepts>
#include <functional>
#include <mutex>
#include <type_traits>
#include <utility>

#include "stoker/runtime/execution/executor.hpp"
#include "stoker/runtime/futures/future_core.hpp"

namespace stoker {

template <class T> class Future;
template <class T> class FutureOn;  // future_await.hpp

namespace detail {
template <class T> struct Unwrapped { using type = T; };
template <class T> struct Unwrapped<Result<T>> { using type = T; };

/// Error{op, closed, "broken promise"} without throwing.
[[nodiscard]] Error broken_promise(const char* op) noexcept;

/// Calls `function` and stores what it returns, or the exception it throws, as a Result.
template <class R, class F, class... Args>
[[nodiscard]] Result<R> call_as_result(const char* op, F& function, Args&&... args) noexcept {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<F&, Args...>>) {
      std::invoke(function, std::forward<Args>(args)...);
      return Result<R>{};
    } else {
      return std::invoke(function, std::forward<Args>(args)...);
    }
  } catch (...) {
    return error_from_current_exception(op);
  }
}
}  // namespace detail

/// The type of a future's value for a continuation that returns R: R itself, or U for Result<U>.
template <class R> using unwrapped_t = typename detail::Unwrapped<std::remove_cvref_t<R>>::type;

template <class T = void> class [[nodiscard]] Future {
 public:
  using value_type = T;
  using time_point = FutureCore::time_point;
  using duration = std::chrono::steady_clock::duration;

  /// A future of nothing; only valid(), assignment and destruction are allowed.
  Future() noexcept = default;
  explicit Future(boost::intrusive_ptr<FutureState<T>> state) noexcept : state_(std::move(state)) {}

  [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }
  [[nodiscard]] bool ready() const noexcept { return state_->ready(); }

  /// The outcome if the future is ready, otherwise null. Never blocks.
  [[nodiscard]] const Result<T>* poll() const noexcept {
    if (!state_->ready()) return nullptr;
    state_->observe();
    return &state_->result();
  }
  /// Blocks the current context until the future is ready.
  const Result<T>& wait() const noexcept {
    state_->observe();
    state_->wait();
    return state_->result();
  }
  /// As wait(), but for a limited time; true if the future is ready.
  [[nodiscard]] bool wait_until(time_point deadline) const noexcept {
    return state_->wait_until(deadline);
  }
  [[nodiscard]] bool wait_until(Clock& clock, time_point deadline) const noexcept {
    return state_->wait_until(clock, deadline);
  }
  [[nodiscard]] bool wait_for(duration limit) const noexcept { return state_->wait_for(limit); }
  /// Waits and returns a copy of the value, or throws the Error.
  T get() const& { return wait().value(); }
  /// The same; the value is moved if nobody else holds the future, as in `buffer.read<T>().get()`.
  T get() && {
    if constexpr (std::is_void_v<T>) {
      return wait().value();
    } else {
      const Result<T>& outcome = wait();
      if (outcome && state_->unique()) return std::move(const_cast<Result<T>&>(outcome)).value();
      return outcome.value();
    }
  }

  /// Calls function(const Result<T>&) on the executor when ready. The future returned holds what
  /// it returns (U, void or Result<U>) or the exception it throws.
  template <class F>
  auto then(Executor& executor, F&& function) const
      -> Future<unwrapped_t<std::invoke_result_t<std::decay_t<F>&, const Result<T>&>>>;

  /// For `co_await future.on(executor)` in any coroutine: resumes it there, throws the Error.
  [[nodiscard]] FutureOn<T> on(Executor& executor) const noexcept;

  /// Wakes the waiter when ready, at once if it is; see FutureCore.
  void on_ready(Waiter& waiter) const noexcept {
    state_->observe();
    state_->add(waiter);
  }
  bool remove(Waiter& waiter) const noexcept { return state_->remove(waiter); }

  /// Asks the producer to stop; the effect depends on the producer.
  void cancel() const noexcept { state_->cancel(); }

  [[nodiscard]] const boost::intrusive_ptr<FutureState<T>>& state() const noexcept {
    return state_;
  }
  friend bool operator==(const Future&, const Future&) = default;

 private:
  boost::intrusive_ptr<FutureState<T>> state_;
};

namespace detail {
template <class T> class PlainState final : public FutureState<T> {};
}  // namespace detail

/// The producer's side. Movable; one owner.
template <class T = void> class Promise {
 public:
  Promise() : state_(new detail::PlainState<T>) {}  // NOLINT: owned by the counted pointer
  Promise(Promise&&) noexcept = default;
  Promise& operator=(Promise&& other) noexcept {
    if (this != &other) {
      abandon();
      state_ = std::move(other.state_);
    }
    return *this;
  }
  ~Promise() { abandon(); }

  /// False once it has been moved from.
  [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }
  [[nodiscard]] Future<T> future() const noexcept { return Future<T>{state_}; }
  /// Completes the future; false if it was complete already.
  bool set(Result<T> result) noexcept { return state_->complete(std::move(result)); }
  bool set() requires std::is_void_v<T> { return state_->complete(Result<T>{}); }

 private:
  void abandon() noexcept {
    if (state_ && !state_->ready()) state_->complete(detail::broken_promise("promise"));
  }
  boost::intrusive_ptr<FutureState<T>> state_;
};

template <class T> [[nodiscard]] Future<T> make_ready_future(Result<T> result) {
  Promise<T> promise;
  promise.set(std::move(result));
  return promise.future();
}
[[nodiscard]] inline Future<void> make_ready_future() {
  return make_ready_future<void>(Result<void>{});
}

namespace detail {
/// One allocation for a continuation: the waiter on its input, the task on its executor, and the
/// state of its output. It holds a reference to itself until it has run.
template <class T, class U, class F>
class Continuation final : public FutureState<U>, private Waiter, private Task {
 public:
  Continuation(boost::intrusive_ptr<FutureState<T>> input, Executor& executor, F function)
      : input_(std::move(input)), executor_(executor.keep()), function_(std::move(function)) {
    brief = true;
  }

  void start() noexcept {
    intrusive_ptr_add_ref(this);
    input_->observe();
    input_->add(*this);
  }

 private:
  using Input = boost::intrusive_ptr<FutureState<T>>;

  void wake() noexcept override { executor_->defer(static_cast<Task&>(*this)); }
  void run() noexcept override {
    const boost::intrusive_ptr<Continuation> self{this, false};
    const Input input = take_input();
    Result<U> outcome = call_as_result<U>("future.then", function_, input->result());
    executor_.reset();  // before the outcome is published, after which the executor may be
                        // destroyed
    this->complete(std::move(outcome));
  }
  void drop() noexcept override {
    const boost::intrusive_ptr<Continuation> self{this, false};
    executor_.reset();
    const Input input = take_input();
    this->complete(broken_promise("future.then"));
  }
  void cancel() noexcept override {
    // In a child of fork() every future of the parent is ready; threads of the parent may hold the
    // lock.
    if (this->ready()) return;
    Input input;
    {
      const std::lock_guard lock{mutex_};
      input = input_;
    }
    if (input) input->cancel();
  }
  // The input is released after use, so that a long chain does not keep every value alive.
  Input take_input() noexcept {
    const std::lock_guard lock{mutex_};
    return std::move(input_);
  }

  std::mutex mutex_;  // cancel() may come while the continuation runs
  Input input_;
  std::shared_ptr<Executor> executor_;
  F function_;
};
}  // namespace detail

template <class T>
template <class F>
auto Future<T>::then(Executor& executor, F&& function) const
    -> Future<unwrapped_t<std::invoke_result_t<std::decay_t<F>&, const Result<T>&>>> {
  using U = unwrapped_t<std::invoke_result_t<std::decay_t<F>&, const Result<T>&>>;
  using State = detail::Continuation<T, U, std::decay_t<F>>;
  boost::intrusive_ptr<State> state{
      new State{state_, executor, std::forward<F>(function)}};  // NOLINT
  state->start();
  return Future<U>{std::move(state)};
}

}  // namespace stoker
