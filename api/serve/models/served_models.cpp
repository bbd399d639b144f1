#include "stoker/api/serve/models/served_models.hpp"

#include <algorithm>
#include <ranges>
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

std::string_view to_string(ModelState state) noexcept {
  switch (state) {
    case ModelState::unavailable: return "UNAVAILABLE";
    case ModelState::loading: return "LOADING";
    case ModelState::ready: return "READY";
    case ModelState::unloading: return "UNLOADING";
  }
  return "";
}

const ServedVersion* ServedModel::answering() const noexcept {
  for (const auto& [number, version] : std::views::reverse(versions))
    if (version.state == ModelState::ready) return &version;
  return nullptr;
}

const ServedVersion* ServedModel::find(std::string_view number) const {
  for (const auto& [known, version] : versions)
    if (std::to_string(known) == number) return &version;
  return nullptr;
}

bool ServedModel::is_loading() const noexcept {
  return std::ranges::any_of(
      versions, [](const auto& entry) { return entry.second.state == ModelState::loading; });
}

std::vector<std::string> ServedModel::ready_versions() const {
  std::vector<std::string> numbers;
  numbers.reserve(versions.size());
  for (const auto& [number, version] : versions)
    if (version.state == ModelState::ready) numbers.push_back(std::to_string(number));
  return numbers;
}

ServedVersion ready_version(std::uint64_t number, const Serving& serving) {
  return {.number = number,
          .state = ModelState::ready,
          .platform = platform_of(serving.model()),
          .serving = serving,
          .use = std::make_shared<const VersionUse>()};
}

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
    const auto [place, added] = models.try_emplace(name);
    if (!added)
      throw Error{"served_models",
                  ErrorCode::already_exists,
                  "there are two models named '" + name + "'",
                  {{"model", name}}};
    place->second.versions[1] = {.state = ModelState::loading};
  });
}

void ServedModels::set(const std::string& name, const Serving& serving) {
  require_name(name);
  ServedModel model;
  model.versions.emplace(1, ready_version(1, serving));
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

void ServedModels::update(const std::string& name,
                          const std::function<void(ServedModel&)>& changes) {
  require_name(name);
  change([&](Map& models) {
    const auto place = models.try_emplace(name).first;
    changes(place->second);
    if (place->second.versions.empty() && place->second.reason.empty()) models.erase(place);
  });
}

ServedModels::Snapshot ServedModels::snapshot() const {
  const std::lock_guard lock{mutex_};
  return models_;
}

}  // namespace stoker
