// What a service says about the requests of its models, in the form of Triton's statistics extension.
//
// Pure functions; any thread.
#pragma once

#include <span>
#include <string>

#include "stoker/api/serve/http/watch/model_status.hpp"

namespace stoker::serve::http {

/// {"model_stats": […]}. Counts are requests, but `inference_count` and `execution_count`, which are rows and batches
/// that gave results. Times are nanoseconds, `last_inference` is milliseconds since 1970. `fail` has all requests
/// without a result; those that found the queue full took no time.
[[nodiscard]] std::string statistics_document(std::span<const ModelStatus> models);

}  // namespace stoker::serve::http
