// The answer to /metrics: the metrics of the system, and those of each serving.
//
// Threads: any; nothing blocks.
#pragma once

#include "stoker/api/serve/http/exchange.hpp"
#include "stoker/api/serve/models/served_models.hpp"

namespace stoker {
class MetricRegistry;  // runtime/observe/metrics.hpp
}  // namespace stoker

namespace stoker::serve::http {

/// `metrics` outlives the future. Servings that have ended are left out.
[[nodiscard]] Future<HttpAnswerPtr> metrics_answer(Executor& executor,
                                                   const MetricRegistry& metrics,
                                                   const ServedModels::Map& models);

}  // namespace stoker::serve::http
