// Futures for Asio: completion tokens of every kind, and `co_await` in boost::asio::awaitable.
//
//   async_wait(future, token)  handler signature void(stoker::Result<T>); nothing is thrown
//   async_get(future, token)   handler signature void(std::exception_ptr, T) (void: no T), so that
//                              use_awaitable, use_future and yield_context throw the Error;
//                              `co_await async_get(future)` is short for use_awaitable
//
// Handlers are always posted to their associated executor, with their associated allocator. Their
// cancellation slot is honoured: cancelling stops the waiting (`cancelled`), not the work, unless
// OnCancel::cancel_work says so. If the execution context is destroyed first, the handler is destroyed
// with it and does not run. Boost 1.81 cannot compile `co_await async_get(future, deferred)`;
// use_awaitable does the same. async_get needs a T that can be default-constructed, as Asio passes one
// beside an exception.
//
// Threads: any thread may start a wait; the handler runs where its executor runs it.
#pragma once

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "stoker/runtime/futures/future.hpp"

namespace stoker {

/// The effect of the handler's cancellation slot on a wait. cancel_work also calls
/// Future::cancel(); the wait ends at once either way.
enum class OnCancel : std::uint8_t { stop_waiting, cancel_work };

namespace detail {

/// Error{"async_wait", cancelled}.
[[nodiscard]] Error wait_cancelled();

/// A wait that ends when its execution context is destroyed.
class AsioWait : public Waiter {
 public:
  /// True: it will not be woken. False: it is being woken.
  virtual bool detach() noexcept = 0;
  /// Destroys a detached wait and its handler.
  virtual void destroy() noexcept = 0;

 protected:
  ~AsioWait() = default;

 private:
  friend class AsioWaits;
  AsioWait* previous_ = nullptr;
  AsioWait* following_ = nullptr;
};

/// The waits of one execution context: a service of it, so that destroying the context destroys
/// the handlers that still wait, as it does with Asio's own operations.
class AsioWaits final : public boost::asio::execution_context::service {
 public:
  using key_type = AsioWaits;
  static boost::asio::execution_context::id id;

  explicit AsioWaits(boost::asio::execution_context& context)
      : boost::asio::execution_context::service(context) {}

  void add(AsioWait& wait) noexcept;
  /// Removes the wait from the list and calls `post` before the context can be destroyed. If `post`
  /// fails, it destroys a handler, which may run any code, so it is called without the lock.
  template <class Post> void finish(AsioWait& wait, Post&& post) noexcept {
    {
      const std::lock_guard lock{mutex_};
      unlink(wait);
      ++posting_;
    }
    post();
    const std::lock_guard lock{mutex_};
    --posting_;
    changed_.notify_all();
  }

 private:
  void shutdown() noexcept override;
  void unlink(AsioWait& wait) noexcept;

  std::mutex mutex_;
  std::condition_variable changed_;
  AsioWait* first_ = nullptr;
  int posting_ = 0;
};

/// How an outcome is passed to a handler: as a Result ...
struct AsResult {
  template <class T, class Handler> static void deliver(Handler&& handler, Result<T> result) {
    std::forward<Handler>(handler)(std::move(result));
  }
};
/// ... or as an exception beside a value.
struct AsException {
  template <class T, class Handler> static void deliver(Handler&& handler, Result<T> result) {
    std::exception_ptr exception;
    if (result.has_error()) exception = std::make_exception_ptr(result.error());
    if constexpr (std::is_void_v<T>) {
      std::forward<Handler>(handler)(exception);
    } else {
      std::forward<Handler>(handler)(exception, exception ? T{} : std::move(*result));
    }
  }
};

/// One asynchronous wait. Owned by the future's list of waiters, then by the handler posted to the
/// executor (Posted); lives in memory from the handler's allocator.
template <class T, class Handler, class Delivery> class AsioOperation final : public AsioWait {
 public:
  using Allocator = typename std::allocator_traits<
      boost::asio::associated_allocator_t<Handler>>::template rebind_alloc<AsioOperation>;
  using Executor = boost::asio::associated_executor_t<Handler>;
  using State = boost::intrusive_ptr<FutureState<T>>;

  static void start(Handler handler, State state, OnCancel on_cancel) {
    Allocator allocator{boost::asio::get_associated_allocator(handler)};
    AsioOperation* memory = std::allocator_traits<Allocator>::allocate(allocator, 1);
    try {
      std::construct_at(memory, std::move(handler), std::move(state), on_cancel);
    } catch (...) {
      std::allocator_traits<Allocator>::deallocate(allocator, memory, 1);
      throw;
    }
    Owner owner{memory};
    if (auto slot = boost::asio::get_associated_cancellation_slot(memory->handler_);
        slot.is_connected())
      slot.assign([memory](boost::asio::cancellation_type) { memory->stop_waiting(); });
    owner.release()->begin();
  }

  AsioOperation(Handler handler, State state, OnCancel on_cancel)
      : handler_(std::move(handler)),
        work_(boost::asio::get_associated_executor(handler_)),
        waits_(&boost::asio::use_service<AsioWaits>(static_cast<boost::asio::execution_context&>(
            boost::asio::query(work_.get_executor(), boost::asio::execution::context)))),
        state_(std::move(state)),
        on_cancel_(on_cancel) {}

 private:
  struct Destroy {
    void operator()(AsioOperation* operation) const noexcept {
      Allocator allocator{boost::asio::get_associated_allocator(operation->handler_)};
      std::destroy_at(operation);
      std::allocator_traits<Allocator>::deallocate(allocator, operation, 1);
    }
  };
  using Owner = std::unique_ptr<AsioOperation, Destroy>;

  struct Posted {
    using allocator_type = boost::asio::associated_allocator_t<Handler>;
    [[nodiscard]] allocator_type get_allocator() const noexcept {
      return boost::asio::get_associated_allocator(operation->handler_);
    }
    void operator()() { AsioOperation::complete(std::move(operation)); }
    Owner operation;
  };

  void begin() noexcept {
    waits_->add(*this);
    state_->observe();
    state_->add(*this);
  }

  // Asio's rule: a cancellation is emitted where the handler's executor would run the handler, so
  // it never overlaps with complete().
  void stop_waiting() noexcept {
    if (!state_->remove(*this)) return;
    cancelled_ = true;
    const State unwanted = on_cancel_ == OnCancel::cancel_work ? state_ : State{};
    wake();
    if (unwanted) unwanted->cancel();
  }

  void wake() noexcept override {
    Posted posted{Owner{this}};
    waits_->finish(*this, [&] {
      try {
        boost::asio::post(work_.get_executor(), std::move(posted));
      } catch (...) {
        log_escaped_exception("async_wait");  // no memory to post: the handler is lost, unrun
      }
    });
  }

  bool detach() noexcept override { return state_->remove(*this); }
  void destroy() noexcept override { const Owner self{this}; }

  // Asio's rule: an operation's memory is free again before its handler runs.
  static void complete(Owner self) {
    if (auto slot = boost::asio::get_associated_cancellation_slot(self->handler_);
        slot.is_connected())
      slot.clear();
    Handler handler{std::move(self->handler_)};
    const State state{std::move(self->state_)};
    const bool cancelled = self->cancelled_;
    free_after_move(std::move(self), handler);
    Delivery::template deliver<T>(
        std::move(handler),
        cancelled ? Result<T>{error_or_out_of_memory(wait_cancelled)} : state->result());
  }
  static void free_after_move(Owner self, const Handler& handler) noexcept {
    Allocator allocator{boost::asio::get_associated_allocator(handler)};
    AsioOperation* operation = self.release();
    std::destroy_at(operation);
    std::allocator_traits<Allocator>::deallocate(allocator, operation, 1);
  }

  Handler handler_;
  boost::asio::executor_work_guard<Executor> work_;
  AsioWaits* waits_;
  State state_;
  const OnCancel on_cancel_;
  bool cancelled_ = false;
};

template <class Delivery> struct StartAsioWait {
  template <class Handler, class T>
  void operator()(Handler&& handler, boost::intrusive_ptr<FutureState<T>> state,
                  OnCancel on_cancel) const {
    AsioOperation<T, std::decay_t<Handler>, Delivery>::start(std::forward<Handler>(handler),
                                                             std::move(state), on_cancel);
  }
};

template <class T> struct ExceptionSignature { using type = void(std::exception_ptr, T); };
template <> struct ExceptionSignature<void> { using type = void(std::exception_ptr); };

}  // namespace detail

/// See the head of this file.
template <class T, class CompletionToken>
auto async_wait(const Future<T>& future, CompletionToken&& token,
                OnCancel on_cancel = OnCancel::stop_waiting) {
  return boost::asio::async_initiate<CompletionToken, void(Result<T>)>(
      detail::StartAsioWait<detail::AsResult>{}, token, future.state(), on_cancel);
}

/// See the head of this file.
template <class T, class CompletionToken = boost::asio::use_awaitable_t<>>
auto async_get(const Future<T>& future, CompletionToken&& token = {},
               OnCancel on_cancel = OnCancel::stop_waiting) {
  static_assert(std::is_void_v<T> || std::is_default_constructible_v<T>,
                "Asio passes a value even beside an exception; use async_wait");
  return boost::asio::async_initiate<CompletionToken, typename detail::ExceptionSignature<T>::type>(
      detail::StartAsioWait<detail::AsException>{}, token, future.state(), on_cancel);
}

}  // namespace stoker
