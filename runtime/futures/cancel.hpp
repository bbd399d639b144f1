// Cancellation with a cause, and deadlines.
//
// A CancelSource is cancelled once. Every CancelToken made from it then has the cause, and every
// callback registered with a token runs once, on the thread that cancels (or at once, if the source
// was cancelled before).
//
// Ownership: source and tokens share one state. A CancelRegistration's destructor removes its
//            callback; if it is running on another thread just then, the destructor waits for it.
// Threads:   any. Callbacks must be short and must not throw.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "stoker/runtime/base/error.hpp"
#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/futures/cancel_token.hpp"

namespace stoker {

/// A point in time after which a result is useless, or no deadline.
class Deadline {
 public:
  using time_point = Clock::time_point;

  /// No deadline.
  constexpr Deadline() noexcept = default;
  constexpr Deadline(time_point at) noexcept : at_(at) {}  // NOLINT: a time is a deadline
  [[nodiscard]] static Deadline after(const Clock& clock, Clock::duration time) noexcept {
    return Deadline{deadline_after(clock.now(), time)};
  }

  [[nodiscard]] constexpr bool exists() const noexcept { return at_ != time_point::max(); }
  /// time_point::max() if there is none.
  [[nodiscard]] constexpr time_point at() const noexcept { return at_; }
  [[nodiscard]] constexpr bool passed(time_point now) const noexcept {
    return exists() && now >= at_;
  }
  friend constexpr auto operator<=>(const Deadline&,
                                    const Deadline&) = default;  // NOLINT(modernize-use-nullptr)

 private:
  time_point at_ = time_point::max();
};

/// The earlier of two; a deadline comes before none.
[[nodiscard]] constexpr Deadline min(Deadline a, Deadline b) noexcept { return b < a ? b : a; }

/// Error{op, cancelled, "cancelled"} and Error{op, deadline_exceeded, "deadline exceeded"}.
[[nodiscard]] Error cancelled_error(std::string op);
[[nodiscard]] Error deadline_error(std::string op);

/// Keeps a callback registered.
class [[nodiscard]] CancelRegistration {
 public:
  CancelRegistration() noexcept = default;

 private:
  friend class CancelToken;
  using Callback = std::stop_callback<std::function<void()>>;
  explicit CancelRegistration(std::unique_ptr<Callback> callback) noexcept
      : callback_(std::move(callback)) {}
  std::unique_ptr<Callback> callback_;
};

class CancelSource {
 public:
  CancelSource();
  [[nodiscard]] CancelToken token() const noexcept;
  /// True for the first call, which sets the cause for all tokens.
  bool cancel(Error cause) const;
  /// Cancels with deadline_exceeded when the deadline passes, from a task on `executor`. Keep the
  /// Timer alive as long as the deadline should apply. Without a deadline the Timer does nothing.
  [[nodiscard]] Timer cancel_at(Deadline deadline, Clock& clock, Executor& executor,
                                std::string op) const;

 private:
  std::shared_ptr<CancelToken::State> state_;
};

}  // namespace stoker
