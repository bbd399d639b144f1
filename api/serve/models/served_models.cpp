#include "stoker/api/serve/models/served_models.hpp"

#include <utility>

namespace stoker {
namespace {

std::string platform_of(const AnyModel& model) {
  switch (model.info().kind) {
    case ModelKind::onnx: return "onnx_stoker";
    case ModelKind::network: return "network_stoker";
    case ModelKind::script: return "script_stoker";
  }
  return "stoker";
}

void require_name(const std::string& name) {
  if (name.empty())
    throw Error{"served_models", ErrorCode::invalid_argument, "a model needs a name"};
}

}  // namespace

template <class Change> void ServedModels::change(Change&& change) {
  Snapshot before;  // goes after the lock: it may be the last to hold a serving
  const std::lock_guard lock{mutex_};
  auto next = std::make_shared<Map>(*models_);
  change(*next);
  before = std::exchange(models_, std::move(next));
}

void ServedModels::announce(const std::string& name) {
  require_name(name);
  change([&](Map& models) {
    const auto [place, added] =
        models.try_emplace(name, ServedModel{.reason = "it is being loaded"});
    if (!added)
      throw Error{"served_models",
                  ErrorCode::already_exists,
                  "there are two models named '" + name + "'",
                  {{"model", name}}};
  });
}

void ServedModels::set(const std::string& name, const Serving& serving) {
  require_name(name);
  ServedModel model{.platform = platform_of(serving.model()), .serving = serving};
  change([&](Map& models) { models[name] = std::move(model); });
}

bool ServedModels::remove(std::string_view name) {
  bool found = false;
  change([&](Map& models) {
    const auto place = models.find(name);
    found = place != models.end();
    if (found) models.erase(place);
  });
  return found;
}

ServedModels::Snapshot ServedModels::snapshot() const {
  const std::lock_guard lock{mutex_};
  return models_;
}

}  // namespace stoker
