#include "stoker/runtime/futures/gate.hpp"

namespace stoker {

Result<Gate::Pass> Gate::enter(const char* op) {
  std::uint64_t state = state_.load(std::memory_order_relaxed);
  do {
    if ((state & closed_bit) != 0) return Error{op, ErrorCode::closed, "it is shutting down"};
  } while (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel));
  return Pass{*this};
}

Future<void> Gate::close() noexcept {
  Future<void> empty = empty_.future();
  const std::uint64_t before = state_.fetch_or(closed_bit, std::memory_order_acq_rel);
  if (before == 0) empty.state()->complete(Result<void>{});
  return empty;
}

void Gate::leave() noexcept {
  // Whoever waits may destroy the gate as soon as the count is down, so the future is taken before.
  const Future<void> empty = empty_.future();
  if (state_.fetch_sub(1, std::memory_order_acq_rel) == (closed_bit | 1))
    empty.state()->complete(Result<void>{});
}

}  // namespace stoker
