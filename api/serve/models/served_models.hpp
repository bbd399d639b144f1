// The models that an HTTP service answers for, by name.
//
//     auto models = std::make_shared<ServedModels>();
//     models->announce("faces");                        // known, not ready: 503
//     models->set("faces", start_serving(…));           // ready
//
// Threads: any; a request sees one state of all models, however long it takes. Servings are handles: removing a model
// ends no serving, and requests that run are answered.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/api/serve/serving.hpp"

namespace stoker {

struct ServedModel {
  std::string version = "1";
  std::string platform = {};            ///< "onnx_stoker": the kind of the file, and what runs it
  std::optional<Serving> serving = {};  ///< none: it is not ready
  std::string reason = {};              ///< why it is not ready
};

class ServedModels {
 public:
  using Map = std::map<std::string, ServedModel, std::less<>>;
  using Snapshot = std::shared_ptr<const Map>;

  /// A model that will be there. Throws invalid_argument for an empty name, already_exists.
  void announce(const std::string& name);
  /// The model is ready; replaces what the name meant before. Looks at all of the model, which takes a moment. Throws
  /// invalid_argument for an empty name.
  void set(const std::string& name, const Serving& serving);
  /// Whether there was one.
  bool remove(std::string_view name);

  /// Never null.
  [[nodiscard]] Snapshot snapshot() const;

 private:
  template <class Change> void change(Change&& change);

  mutable std::mutex mutex_;
  Snapshot models_ = std::make_shared<const Map>();
};

}  // namespace stoker
