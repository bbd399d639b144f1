#include "stoker/runtime/futures/cancel.hpp"

#include <atomic>
#include <utility>

namespace stoker {

struct CancelToken::State {
  std::atomic<bool> claimed{false};
  std::optional<Error> cause;  // written before the stop is requested, read after
  std::stop_source source;
};

Error cancelled_error(std::string op) {
  return Error{std::move(op), ErrorCode::cancelled, "cancelled"};
}

Error deadline_error(std::string op) {
  return Error{std::move(op), ErrorCode::deadline_exceeded,
               "the deadline passed before the result was there"};
}

bool CancelToken::cancelled() const noexcept { return state_ && state_->source.stop_requested(); }

std::optional<Error> CancelToken::cause() const {
  if (!cancelled()) return std::nullopt;
  return state_->cause;
}

Result<void> CancelToken::try_check() const {
  if (cancelled()) return *state_->cause;
  return {};
}

CancelRegistration CancelToken::on_cancel(std::function<void(const Error&)> callback) const {
  if (!state_) return {};
  // The state outlives the callback: the callback's stop state is part of it.
  const State* state = state_.get();
  return CancelRegistration{std::make_unique<CancelRegistration::Callback>(
      state_->source.get_token(),
      [state, callback = std::move(callback)] { callback(*state->cause); })};
}

CancelSource::CancelSource() : state_(std::make_shared<CancelToken::State>()) {}

CancelToken CancelSource::token() const noexcept { return CancelToken{state_}; }

bool CancelSource::cancel(Error cause) const {
  const std::shared_ptr<CancelToken::State> state = state_;  // a callback may destroy this source
  if (state->claimed.exchange(true)) return false;
  state->cause = std::move(cause);
  state->source.request_stop();
  return true;
}

Timer CancelSource::cancel_at(Deadline deadline, Clock& clock, Executor& executor,
                              std::string op) const {
  if (!deadline.exists()) return {};
  return Timer{clock, deadline.at(), executor,
               [source = *this, why = deadline_error(std::move(op))] { source.cancel(why); }};
}

}  // namespace stoker
