// `co_await future.on(executor)` in any coroutine type: suspends without a thread, resumes on the
// executor, returns the value or throws the Error. In boost::asio::awaitable prefer
// async_get(future) of future_asio.hpp, which resumes on the coroutine's own executor.
//
// Lifetime: an executor that is destroyed before it could resume a coroutine leaves the coroutine
//           suspended; whoever owns its handle destroys it.
#pragma once

#include <coroutine>

#include "stoker/runtime/futures/future.hpp"

namespace stoker {

/// The awaitable made by Future::on. Lives in the coroutine's frame while it is suspended.
template <class T> class [[nodiscard]] FutureOn final : private Waiter, private Task {
 public:
  FutureOn(Future<T> future, Executor& executor) noexcept
      : future_(std::move(future)), executor_(executor.keep()) {}

  /// Ready only if the value is there and the caller runs on the executor already.
  [[nodiscard]] bool await_ready() const noexcept {
    return future_.ready() && executor_->in_executor();
  }
  void await_suspend(std::coroutine_handle<> coroutine) noexcept {
    coroutine_ = coroutine;
    future_.on_ready(*this);
  }
  /// Not get(): the thread did not wait (thread_waits.hpp), it may be a host's event loop.
  T await_resume() const { return future_.poll()->value(); }

 private:
  void wake() noexcept override { executor_->post(static_cast<Task&>(*this)); }
  void run() noexcept override { coroutine_.resume(); }

  Future<T> future_;
  std::shared_ptr<Executor> executor_;
  std::coroutine_handle<> coroutine_;
};

template <class T> FutureOn<T> Future<T>::on(Executor& executor) const noexcept {
  return FutureOn<T>{*this, executor};
}

}  // namespace stoker
