// A token by which a call can be cancelled: the receiving half of runtime/futures/cancel.hpp.
//
// Ownership: source and tokens share one state. A token is a shared handle, cheap to copy.
// Threads:   any. Callbacks run on the thread that cancels; they must be short and must not throw.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "stoker/runtime/base/error.hpp"

namespace stoker {

class CancelRegistration;  // cancel.hpp

class CancelToken {
 public:
  /// A token that is never cancelled.
  CancelToken() noexcept = default;

  /// Whether it belongs to a source; otherwise it is never cancelled.
  [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }
  [[nodiscard]] bool cancelled() const noexcept;
  /// The cause, once cancelled() is true.
  [[nodiscard]] std::optional<Error> cause() const;
  /// Throws the cause once cancelled() is true.
  void check() const { try_check().value(); }
  /// The cause as a failure, else success: for `STOKER_TRY(token.try_check())`.
  [[nodiscard]] Result<void> try_check() const;
  /// Calls `callback` with the cause when cancelled, at once if that has happened.
  CancelRegistration on_cancel(std::function<void(const Error&)> callback) const;

 private:
  friend class CancelSource;
  struct State;
  explicit CancelToken(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace stoker
