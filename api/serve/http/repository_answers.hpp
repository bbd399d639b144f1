// The paths of the model repository: GET /v2/models, and Triton's repository extension.
//
//     GET   /v2/models                          [{"name", "version", "state"}, …]
//     POST  /v2/repository/index                the same with "reason"; {"ready": true}: only what is ready
//     POST  /v2/repository/models/M/load        an empty answer, or {"error": …}
//     POST  /v2/repository/models/M/unload
//
// Threads: any; nothing blocks. Answers are never errors.
#pragma once

#include <string>

#include "stoker/api/serve/http/exchange.hpp"
#include "stoker/api/serve/http/route.hpp"
#include "stoker/api/serve/models/served_models.hpp"

namespace stoker {
class ModelRepository;  // api/serve/repository/model_repository.hpp
}  // namespace stoker

namespace stoker::serve::http {

[[nodiscard]] std::string models_document(const ServedModels::Map& models);

/// Precondition: the route is one of the repository's. `models` are those of the repository, and others.
[[nodiscard]] Future<HttpAnswerPtr> repository_answer(
    Executor& executor, const std::shared_ptr<const ModelRepository>& repository,
    const std::shared_ptr<const ServedModels>& models, const Route& route, const std::string& body);

}  // namespace stoker::serve::http
