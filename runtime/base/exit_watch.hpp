// The end of the process, for users of a library that does not outlive it.
//
// exit() runs its handlers newest first, while other threads go on. Behind the handlers of a driver or a
// library its threads, locks and memory are gone: a thread inside it then crashes, and so does a
// destructor of a static object that still calls it. So each call is marked by an ExitDelay. exit() waits up to
// two seconds for the calls in progress, and from then on no call begins.
//
// Threads: any.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>

#include "stoker/runtime/base/error.hpp"
#include "stoker/runtime/base/process_mutex.hpp"

namespace stoker {

/// Work to do before the libraries that are loaded now run their own exit handlers.
class ExitWatch {
 public:
  /// `leave` is called at most once, by the thread that exits, while they still work. It must not
  /// wait without a limit: what it waits for may wait for this watch to be destroyed. Throws
  /// std::bad_alloc.
  explicit ExitWatch(std::function<void()> leave);
  /// `leave` does not run any more.
  ~ExitWatch();
  ExitWatch(const ExitWatch&) = delete;
  ExitWatch& operator=(const ExitWatch&) = delete;

 private:
  friend struct ExitWatches;
  const std::function<void()> leave_;
  bool left_ = false;
};

/// The calling thread is inside a library: exit() waits for it, for two seconds at most in all.
class ExitDelay {
 public:
  ExitDelay() noexcept;
  ~ExitDelay();
  ExitDelay(const ExitDelay&) = delete;
  ExitDelay& operator=(const ExitDelay&) = delete;
  /// The exit came first and waits for nobody: the library must not be called any more.
  [[nodiscard]] bool too_late() const noexcept { return too_late_; }

 private:
  bool too_late_ = false;
};

/// The first use of a part of a library that makes static objects as it is used. Their destructors are
/// newer than any handler of ours, so exit() would run them first. While this exists a thread keeps our
/// handler the newest, and exit() waits as for an ExitDelay; another FirstUse, and a fork(), wait until it
/// is over.
class FirstUse {
 public:
  FirstUse();
  ~FirstUse();
  FirstUse(const FirstUse&) = delete;
  FirstUse& operator=(const FirstUse&) = delete;

 private:
  const ExitDelay delay_;
  const std::unique_lock<ProcessMutex> alone_;
  std::jthread renewing_;
};

/// Calls `use` as a FirstUse unless `done` is set, and sets it. What `use` throws is passed on; then it
/// counts as not done. False once the exit has begun: the library must not be called.
[[nodiscard]] bool first_use(std::atomic<bool>& done, const std::function<void()>& use);

/// What is asked of a library once the exit has begun fails with this (`closed`).
[[nodiscard]] Error process_exits(std::string_view op);

/// For whoever is about to throw to the program: returns at once, but not while the process exits. A
/// thread that expects no exception would end the process before exit() can; so there, on other threads
/// than the one that exits, this returns three seconds after the exit has begun.
void give_exit_time() noexcept;

}  // namespace stoker
