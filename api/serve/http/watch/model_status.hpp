// What the servings of a service say about themselves, at about one time.
//
// Threads: any; nothing blocks.
#pragma once

#include <string>
#include <vector>

#include "stoker/api/serve/models/served_models.hpp"

namespace stoker::serve::http {

struct ModelStatus {
  std::string name;
  std::string version;
  AnyModel model;
  ServingStatus status;
};

/// Of all versions that are ready, in order. Servings that have ended are left out.
[[nodiscard]] Future<std::vector<ModelStatus>> statuses_of(Executor& executor,
                                                           const ServedModels::Map& models);

}  // namespace stoker::serve::http
