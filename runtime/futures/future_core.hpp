// The shared state beneath Future and Promise. Most code includes future.hpp instead; those who
// complete work themselves (devices) derive from FutureState.
//
// Ownership: counted intrusively; the last handle destroys the state.
// Threads:   lock-free but for remove(), which holds a bit of the list's head for a few loads.
//            Any thread may wait, complete, cancel. The first completion wins, later ones are
//            ignored. Completing runs no user code: only Waiter::wake, which must be tiny.
// Errors:    a failure that nobody looked at is logged when the last handle goes (a cancellation
//            is not a failure, nor is the end of a system). Waiting in a forked child for what the
//            parent would complete ends with `forked_process`.
#pragma once

#include <atomic>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "stoker/runtime/base/error.hpp"
#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker {

class Clock;

namespace detail {
/// Error{"wait", forked_process} without throwing.
[[nodiscard]] Error forked_while_waiting() noexcept;
}  // namespace detail

/// Notified once that a future is ready. Must live until woken or removed.
class Waiter {
 public:
  /// May be called from any thread, and may destroy the waiter. Post or unpark; nothing else.
  virtual void wake() noexcept = 0;

  Waiter* next = nullptr;  ///< used by the list that holds the waiter

 protected:
  ~Waiter() = default;
};

class FutureCore {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  FutureCore(const FutureCore&) = delete;
  FutureCore& operator=(const FutureCore&) = delete;

  /// Also true in a child of the process that made it: there it has failed.
  [[nodiscard]] bool ready() const noexcept { return published() || ended_by_fork(); }

  /// Wakes the waiter when ready, at once if it is. Waiters wake in the order they were added.
  void add(Waiter& waiter) noexcept;
  /// True: the waiter will not be woken. False: wake() was called or is about to be; a caller who
  /// owns the waiter must wait for that.
  bool remove(Waiter& waiter) noexcept;

  /// Blocks the current context until ready.
  void wait() noexcept;
  /// As wait(); false if the deadline passed first, on the clock of the current context.
  bool wait_until(time_point deadline) noexcept;
  bool wait_until(Clock& clock, time_point deadline) noexcept;
  /// As wait_until() with the time `limit` from now, on the clock of the current context.
  bool wait_for(std::chrono::steady_clock::duration limit) noexcept;

  /// Called by a plain thread that is about to block until `deadline`. May do the work itself or
  /// wait in a better way. Returns when the future is ready or when it can do nothing more.
  virtual void assist(time_point deadline) noexcept { static_cast<void>(deadline); }
  /// Asks the producer to stop. Does nothing unless the producer says otherwise.
  virtual void cancel() noexcept {}

  /// Marks the outcome as observed, so that a failure is not logged.
  void observe() const noexcept {
    if (!observed_.load(std::memory_order_relaxed))
      observed_.store(true, std::memory_order_relaxed);
  }

  /// Whether the caller's reference is the only one; stays so unless the caller copies it.
  [[nodiscard]] bool unique() const noexcept {
    return references_.load(std::memory_order_acquire) == 1;
  }

  friend void intrusive_ptr_add_ref(const FutureCore* core) noexcept {
    core->references_.fetch_add(1, std::memory_order_relaxed);
  }
  friend void intrusive_ptr_release(const FutureCore* core) noexcept {
    if (core->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) core->last_release();
  }

 protected:
  FutureCore() noexcept : claim_{unclaimed_here()} {}
  virtual ~FutureCore() = default;

  /// True for the one caller that may store the outcome; that one then calls publish(). False in a
  /// child of the process it was made in.
  [[nodiscard]] bool claim() noexcept {
    std::uint16_t unclaimed = unclaimed_here();
    return claim_.compare_exchange_strong(unclaimed, unclaimed | claimed,
                                          std::memory_order_acq_rel);
  }
  /// Whether the outcome is stored.
  [[nodiscard]] bool published() const noexcept {
    return head_.load(std::memory_order_acquire) == closed;
  }
  /// Makes the outcome visible and wakes everybody. The caller holds a reference.
  void publish() noexcept;
  /// Stores the outcome `forked_process`; called once, in a child of the process the future was made
  /// in, whatever the threads of the parent were doing to it.
  virtual void disown() noexcept = 0;
  /// The failure, if it was one. Called when ready.
  [[nodiscard]] virtual std::optional<Error> failure() const noexcept = 0;
  /// Destroys this; a state with its own way of being stored overrides it.
  virtual void destroy() const noexcept {
    const std::unique_ptr<const FutureCore, Deleter> self{this};
  }

 private:
  struct Deleter {
    void operator()(const FutureCore* core) const noexcept { delete core; }
  };
  // The list's head is a Waiter*, with one bit to lock it, or the value `closed`.
  static constexpr std::uintptr_t locked = 1;
  static constexpr std::uintptr_t closed = 2;
  // A claim is the process that may store the outcome (its number of forks), with one bit: it has.
  static constexpr std::uint16_t claimed = 0x8000;
  [[nodiscard]] static std::uint16_t unclaimed_here() noexcept {
    return static_cast<std::uint16_t>(ForkGuard::generation() & 0x7fffU);
  }
  /// In a child of the process that made the future: makes it ready if it was not. Returns whether it
  /// is ready for this reason.
  [[nodiscard]] bool ended_by_fork() const noexcept {
    return (claim_.load(std::memory_order_acquire) & ~claimed) != unclaimed_here() &&
           const_cast<FutureCore*>(this)->end_by_fork();
  }
  /// True.
  bool end_by_fork() noexcept;
  void last_release() const noexcept;
  /// Waits for the list's bit to be free and returns the head.
  [[nodiscard]] std::uintptr_t unlocked_head() const noexcept;

  std::atomic<std::uintptr_t> head_{0};
  mutable std::atomic<std::uint32_t> references_{0};
  std::atomic<std::uint16_t> claim_;
  mutable std::atomic<bool> observed_{false};
};

/// Adds the outcome: a Result<T> that is written once.
template <class T> class FutureState : public FutureCore {
  static_assert(std::is_void_v<T> || std::is_nothrow_move_constructible_v<T>,
                "a value must be movable without throwing");

 public:
  /// Stores the outcome and wakes everybody; false if there was one already. The caller holds a
  /// reference.
  bool complete(Result<T> result) noexcept {
    if (!claim()) return false;
    std::construct_at(&outcome_.result, std::move(result));
    publish();
    return true;
  }
  /// The outcome. Only once ready() was true.
  [[nodiscard]] const Result<T>& result() const noexcept { return outcome_.result; }

 protected:
  ~FutureState() override {
    if (this->published()) std::destroy_at(&outcome_.result);
  }
  [[nodiscard]] std::optional<Error> failure() const noexcept override {
    if (outcome_.result.has_error()) return outcome_.result.error();
    return std::nullopt;
  }
  void disown() noexcept override {
    std::construct_at(&outcome_.result, detail::forked_while_waiting());
  }

 private:
  union Outcome {
    Outcome() noexcept {}
    ~Outcome() {}
    Result<T> result;
  } outcome_;
};

}  // namespace stoker
