// Models of a directory, served by name and version, and loaded and unloaded while requests run.
//
//     ModelRepository repository{system, models, {.directory = "models"}};
//     repository.look().get();            // the names are known, nothing is loaded
//     repository.load("faces").get();     // the versions that the configuration chooses are ready
//
// docs/serving.md has the layout of the directory and the fields of configurations.
//
// Threads: any may call; nothing blocks but the constructor and the destructor, which waits for a load that runs. One
// thread of its own loads, one model at a time, so that neither an event loop nor the system's pool waits for it.
// Another one looks, so that the states of models are shown while one is loaded.
// Lifetime: the system outlives it. What is loaded stays in `models`. Errors of load() and unload() are in the future:
// not_found for a name that is not in the directory (with the nearest one), and for load() why the first version that
// failed did; what was ready stays so. The constructor throws not_found if there is no such directory.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "stoker/api/model/core/model.hpp"
#include "stoker/api/serve/models/served_models.hpp"
#include "stoker/api/serve/serving_options.hpp"

namespace stoker {

class System;  // api/system.hpp

struct ModelRepositoryOptions {
  std::filesystem::path directory = {};
  /// For all models, unless their configuration says otherwise. `name` is not used.
  LoadModelOptions load = {};
  ServingOptions serving = {};
  /// Names of models that are not the repository's: directories of these names are left alone.
  std::set<std::string, std::less<>> others = {};
};

class ModelRepository {
 public:
  ModelRepository(const System& system, std::shared_ptr<ServedModels> models,
                  ModelRepositoryOptions options);
  ~ModelRepository();
  ModelRepository(const ModelRepository&) = delete;
  ModelRepository& operator=(const ModelRepository&) = delete;

  /// Makes known what the directory has; the future has the names. Nothing is loaded or unloaded. Versions that are new
  /// are shown as `state`: `loading` if load() follows for all of them.
  Future<std::vector<std::string>> look(ModelState state = ModelState::unavailable) const;
  /// Loads the versions that the model's configuration chooses and unloads the others. A version whose files are
  /// those that it was loaded from stays as it is.
  Future<void> load(std::string name) const;
  /// Ready when no further request is accepted. The versions end when they have answered those that they have.
  Future<void> unload(std::string name) const;
  /// Loads each model whose files changed before the last call and have not changed since, and unloads those whose
  /// directory is gone at this call and the last one. Failures are logged and tried again when the files change.
  Future<void> poll() const;

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace stoker
