// Blocks the current context (a process, a fiber of another library, or a plain thread) until
// another one unparks it. The one place where anything in Stoker waits.
//
// One Parker is used by one waiting context at a time; it holds at most one permit. unpark() may
// come from any thread, also before park(). As soon as park() has returned the Parker may be
// destroyed, even while the unpark() that ended it is still on its way out.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace stoker {

class Clock;
class Parker;

/// The context that an unpark resumes. Used by contexts only.
class Resumable {
 public:
  virtual void resume() noexcept = 0;  // any thread

 protected:
  ~Resumable() = default;
};

/// How code on the current thread blocks. A process installs itself while it runs; an adaptor
/// (fiber_adaptor.hpp) installs itself for its thread; none is installed on a plain thread.
class BlockingContext {
 public:
  /// Calls parker.bind(resumable), gets ready to be resumed, calls parker.commit(), and blocks
  /// unless that returned false. With a deadline (only if clock() is null) it stops blocking then
  /// and calls parker.time_out(); if that returns false a resume() is on its way and is awaited.
  virtual void block(Parker& parker,
                     const std::chrono::steady_clock::time_point* deadline) noexcept = 0;
  /// The clock of time-outs, or null: the machine's steady clock.
  [[nodiscard]] virtual Clock* clock() noexcept { return nullptr; }
  /// See Interruptible. Null: the wait is over.
  [[nodiscard]] virtual bool interruptible(Parker* /*parker*/) noexcept { return true; }

  /// Data of a higher layer for the running context. Unlike thread-local data, it moves with a
  /// process from thread to thread.
  void* local = nullptr;

 protected:
  ~BlockingContext() = default;
};

/// The calling thread's context, or null on a plain thread. Never cached across a park: a process
/// may wake on another thread.
[[nodiscard]] BlockingContext* blocking_context() noexcept;
/// Installs a context for the calling thread and returns the one before it.
BlockingContext* set_blocking_context(BlockingContext* context) noexcept;
/// Whether waiting here blocks a whole thread.
[[nodiscard]] inline bool blocks_thread() noexcept { return blocking_context() == nullptr; }

class Parker {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  Parker() noexcept = default;
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;

  /// Waits for a permit and takes it.
  void park() noexcept;
  /// As park(); false if `deadline` passed first, on the clock of the current context.
  [[nodiscard]] bool park_until(time_point deadline) noexcept;
  /// The same on a given clock.
  [[nodiscard]] bool park_until(Clock& clock, time_point deadline) noexcept;
  /// Gives the permit.
  void unpark() noexcept;

  // For contexts:
  void bind(Resumable& resumable) noexcept { resumable_ = &resumable; }
  /// False if a permit or a time-out came first: the context must not block.
  [[nodiscard]] bool commit() noexcept;
  /// Ends a wait by time-out. True if the caller must resume the context; false if there is a
  /// permit or the context has not committed yet (commit() will then return false).
  [[nodiscard]] bool time_out() noexcept;
  /// Resumes a context whose time_out() returned true.
  void resume() noexcept { resumable_->resume(); }

 private:
  enum State : std::uint32_t { empty, permit, parked, timed_out };
  void block(const time_point* deadline) noexcept;
  bool take() noexcept;

  std::atomic<std::uint32_t> state_{empty};
  Resumable* resumable_ = nullptr;
};

/// Marks a wait that its context may end early, by unparking the parker: a process that is told to
/// end stops waiting for space in a mailbox.
class Interruptible {
 public:
  explicit Interruptible(Parker& parker) noexcept;
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  /// False: the context must not start to wait.
  [[nodiscard]] bool allowed() const noexcept { return allowed_; }

 private:
  bool allowed_;
};

}  // namespace stoker
