// The answer to /metrics: the metrics of the system, those of each serving and its device, and those of HTTP.
//
// Threads: any; nothing blocks.
#pragma once

#include <memory>

#include "stoker/api/serve/http/exchange.hpp"
#include "stoker/api/serve/http/http_counts.hpp"
#include "stoker/api/serve/models/served_models.hpp"

namespace stoker {
class MetricRegistry;  // runtime/observe/metrics.hpp
}  // namespace stoker

namespace stoker::serve::http {

struct MetricSources {
  const MetricRegistry* system = nullptr;  ///< outlives the future
  std::shared_ptr<const HttpCounts> http = {};
  bool triton = false;  ///< whether Triton's names are there, too
};

/// Servings that have ended are left out.
[[nodiscard]] Future<HttpAnswerPtr> metrics_answer(Executor& executor, const MetricSources& sources,
                                                   const ServedModels::Map& models);

}  // namespace stoker::serve::http
