#include "stoker/pipeline/script/run/waiting.hpp"

#include <memory>

#include "stoker/runtime/execution/parker.hpp"

namespace stoker::script {
namespace {

// Two sides may wake it and only one of them ends the wait, so the other must find it alive: the
// future's side holds a share until it has been called or removed.
struct Signal final : Waiter {
  Parker parker;
  std::shared_ptr<Signal> held_by_future;

  void wake() noexcept override {
    const std::shared_ptr<Signal> self = std::move(held_by_future);
    parker.unpark();
  }
};

}  // namespace

bool wait_unless_cancelled(FutureCore& future, const CancelToken& token) {
  future.observe();
  if (future.ready()) return true;
  if (token.cancelled()) return false;
  const auto signal = std::make_shared<Signal>();
  signal->held_by_future = signal;
  const CancelRegistration registration =
      token.on_cancel([signal](const Error&) { signal->parker.unpark(); });
  future.add(*signal);
  while (!future.ready() && !token.cancelled()) signal->parker.park();
  if (future.ready()) return true;
  if (future.remove(*signal)) signal->held_by_future.reset();
  return false;
}

}  // namespace stoker::script
