// Loads and unloads versions of served models while requests come.
//
// A new version is started beside the old ones, which answer meanwhile. Then the names of requests mean the new one, in
// one step; the versions that are not wanted any more answer the requests that they have, are stopped, and give their
// memory back. If a version cannot be started, nothing that answered before is stopped.
//
// Threads: one call at a time, but for know(). load() blocks for as long as the versions take to start. Old versions
// end later, on the executor. Lifetime: what is on its way keeps what it needs, but for the system.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stoker/api/serve/models/served_models.hpp"
#include "stoker/runtime/execution/executor.hpp"

namespace stoker::serve {

struct StartedVersion {
  Serving serving = {};
  std::shared_ptr<const serve::protocol::ClassLabels> labels = {};
};

/// A version that is known, whether it is to be loaded or not.
struct VersionSource {
  std::uint64_t number = 1;
  /// What it consists of: a version that is ready and was made of the same is left as it is.
  std::string content = {};
  /// Starts it; blocks and throws. Null: it is not to be loaded.
  std::function<StartedVersion()> start = {};
  /// If it is not to be loaded: why.
  std::string reason = {};
};

class VersionSwitch {
 public:
  VersionSwitch(std::shared_ptr<Executor> executor, std::shared_ptr<ServedModels> models)
      : executor_{std::move(executor)}, models_{std::move(models)} {}

  /// Makes exactly these versions known, and those with `start` ready. Throws what the first version that could not be
  /// started threw; the others are ready then, and no version was unloaded.
  void load(const std::string& name, const std::vector<VersionSource>& sources);
  /// The versions answer what they have, and end. `forget`: the name is unknown after that.
  void unload(const std::string& name, bool forget);
  /// Makes versions known that are not loaded, as `state`, without a change of those that are known. `reason`: why
  /// there are none.
  void know(const std::string& name, const std::vector<VersionSource>& sources,
            const std::string& reason, ModelState state = ModelState::unavailable) const;

 private:
  struct Leaving;

  [[nodiscard]] bool is_served(const std::string& name, const VersionSource& source) const;
  /// Takes the serving out of the version, which is ready; the end of it is told to the models if `is_shown`.
  [[nodiscard]] std::shared_ptr<Leaving> take_out(const std::string& name, ServedVersion& version,
                                                  bool is_shown, bool forget);
  void end(std::vector<std::shared_ptr<Leaving>> leaving) const;

  const std::shared_ptr<Executor> executor_;
  const std::shared_ptr<ServedModels> models_;
  std::uint64_t unloadings_ = 0;
};

}  // namespace stoker::serve
