// Whether models answer.
//
// Threads: any; nothing blocks. Lifetime: the executor outlives the futures' work.
#pragma once

#include "stoker/api/serve/models/served_models.hpp"
#include "stoker/runtime/execution/executor.hpp"

namespace stoker::serve {

/// Whether the serving answers: it has not ended, is not drained, and its device is there.
[[nodiscard]] Future<bool> is_ready(Executor& executor, const ServedModel& model);
/// Whether all of them do.
[[nodiscard]] Future<bool> are_ready(Executor& executor, const ServedModels::Map& models);

}  // namespace stoker::serve
