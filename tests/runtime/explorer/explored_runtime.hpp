// The lock-free parts of the runtime once more, as stoker_explored::, with instrumented types where
// the sources say std::. The sources are the real ones, unchanged: within stoker_explored the name
// `std` finds a namespace that holds the stand-ins and all of the real std besides, and another
// name for the outer namespace keeps the two builds apart in one binary.
//
// Threads of a scenario block by an ExploredContext, or, without one installed, as plain threads
// do; only one thread of a scenario may do the latter, since what is thread_local there is shared.
#pragma once

#include <thread>

#include "explored_types.hpp"

namespace stoker_explored::std {
using namespace ::std;  // NOLINT(google-build-using-namespace): what is not replaced
template <class T> using atomic = stoker::explore::Atomic<T, true>;
using mutex = stoker::explore::Mutex;
using condition_variable = stoker::explore::ConditionVariable;
namespace this_thread {
using namespace ::std::this_thread;  // NOLINT(google-build-using-namespace): as above
inline void yield() {
  if (auto* explorer = stoker::explore::Explorer::current()) explorer->yield();
}
}  // namespace this_thread
}  // namespace stoker_explored::std

#define stoker stoker_explored  // NOLINT(bugprone-reserved-identifier)
#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/execution/parker.hpp"
#include "stoker/runtime/futures/future_core.hpp"
#include "stoker/runtime/queue/mailbox.hpp"
#undef stoker

namespace stoker::explore {

/// How threads of a scenario block, while it lives. A deadline may pass at any moment.
class ExploredContext final : public stoker_explored::BlockingContext {
 public:
  ExploredContext() noexcept : before_(stoker_explored::set_blocking_context(this)) {}
  ~ExploredContext() { stoker_explored::set_blocking_context(before_); }
  ExploredContext(const ExploredContext&) = delete;
  ExploredContext& operator=(const ExploredContext&) = delete;
  void block(stoker_explored::Parker& parker,
             const std::chrono::steady_clock::time_point* deadline) noexcept override;

 private:
  stoker_explored::BlockingContext* before_;
};

/// A clock with one timer that may expire at any moment.
class ExploredClock final : public stoker_explored::Clock {
 public:
  [[nodiscard]] time_point now() const noexcept override { return {}; }
  void arm(stoker_explored::TimerNode& node, time_point due) noexcept override;
  bool disarm(stoker_explored::TimerNode& node) noexcept override;
  /// The clock's thread, for one time-out: lets what is armed then expire.
  void tick() noexcept;
  static constexpr time_point later = time_point{std::chrono::seconds{1}};

 private:
  Mutex mutex_;
  stoker_explored::TimerNode* armed_ = nullptr;
};

}  // namespace stoker::explore
