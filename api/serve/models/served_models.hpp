// The models that a server answers for, by name, with their versions.
//
//     auto models = std::make_shared<ServedModels>();
//     models->announce("faces");                        // known, not ready: 503
//     models->set("faces", start_serving(…));           // version 1 is ready
//
// Requests that name no version are answered by the highest one that is ready.
//
// Threads: any; a request sees one state of all models, however long it takes. Servings are handles: removing a model
// ends no serving, and requests that run are answered.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/api/serve/protocol/classification.hpp"
#include "stoker/api/serve/serving.hpp"

namespace stoker {

enum class ModelState : std::uint8_t {
  unavailable,  ///< it is known, but was not loaded, could not be loaded, or was unloaded
  loading,
  ready,
  unloading,  ///< it answers the requests that it has, and no further ones
};
/// "UNAVAILABLE", "LOADING", "READY", "UNLOADING", as Triton's repository index has them.
[[nodiscard]] std::string_view to_string(ModelState state) noexcept;

/// Held by everybody who may still send requests to a version. Whoever unloads the version waits for gone().
class VersionUse {
 public:
  VersionUse() = default;
  ~VersionUse() { gone_.set(); }
  VersionUse(const VersionUse&) = delete;
  VersionUse& operator=(const VersionUse&) = delete;

  /// Ready when the last holder has let go.
  [[nodiscard]] Future<void> gone() const noexcept { return gone_.future(); }

 private:
  Promise<void> gone_;
};

struct ServedVersion {
  std::uint64_t number = 1;
  ModelState state = ModelState::unavailable;
  std::string platform = {};            ///< "onnx_stoker": the kind of the file, and what runs it
  std::optional<Serving> serving = {};  ///< there if and only if it is ready
  std::shared_ptr<const VersionUse> use = {};  ///< likewise
  std::shared_ptr<const serve::protocol::ClassLabels> labels = {};
  /// Why it is not ready, or why it could not be loaded once more. For operators: it may name files.
  std::string reason = {};
  /// What it was loaded from, as its source tells it.
  std::string content = {};
  /// Tells one unloading from another one.
  std::uint64_t unloading = 0;
};

struct ServedModel {
  std::map<std::uint64_t, ServedVersion> versions = {};  ///< by number
  std::string reason = {};                               ///< why there are no versions

  /// The version of requests that name none: the highest one that is ready. Null: none is.
  [[nodiscard]] const ServedVersion* answering() const noexcept;
  /// The version that a client means by "3". Null: there is none.
  [[nodiscard]] const ServedVersion* find(std::string_view number) const;
  [[nodiscard]] bool is_loading() const noexcept;
  /// The numbers of the versions that are ready, ascending.
  [[nodiscard]] std::vector<std::string> ready_versions() const;
};

/// A version that is ready, with a serving that answers for it. Looks at all of the model, which takes a moment.
[[nodiscard]] ServedVersion ready_version(std::uint64_t number, const Serving& serving);

class ServedModels {
 public:
  using Map = std::map<std::string, ServedModel, std::less<>>;
  using Snapshot = std::shared_ptr<const Map>;

  /// Version 1 of a model that will be there. Throws invalid_argument for an empty name, already_exists.
  void announce(const std::string& name);
  /// Version 1 of the model is ready; replaces what the name meant before. Throws invalid_argument for an empty name.
  void set(const std::string& name, const Serving& serving);
  /// Whether there was one.
  bool remove(std::string_view name);
  /// Changes the versions of a model in one step; adds the model if there was none of that name, and removes it if it
  /// has neither versions nor a reason after that. `change` must not call this object. Throws invalid_argument for an
  /// empty name, and what `change` throws; then nothing has changed.
  void update(const std::string& name, const std::function<void(ServedModel&)>& change);

  /// Never null.
  [[nodiscard]] Snapshot snapshot() const;

 private:
  template <class Change> void change(Change&& change);

  mutable std::mutex mutex_;
  Snapshot models_ = std::make_shared<const Map>();
};

}  // namespace stoker
