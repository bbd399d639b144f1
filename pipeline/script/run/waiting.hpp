// Waiting for a future that a cancellation can cut short.
#pragma once

#include "stoker/runtime/futures/cancel.hpp"
#include "stoker/runtime/futures/future_core.hpp"

namespace stoker::script {

/// Parks the process (or blocks the thread) until the future is ready or the token is cancelled.
/// True: it is ready. False: it was cancelled first; the work behind the future goes on.
[[nodiscard]] bool wait_unless_cancelled(FutureCore& future, const CancelToken& token);

}  // namespace stoker::script
