#include "stoker/api/nn/graph/layer.hpp"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "stoker/api/nn/graph/layer_list.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"
#include "stoker/runtime/base/process_mutex.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker::nn {
namespace {

using KindAndName = std::pair<std::string, std::string>;
struct LoggedNames {
  mutable std::set<KindAndName> names;  // of logged_mutex
};
ProcessMutex logged_mutex;
// Threads may still load models while the process exits.
constinit NeverDestroyed<LoggedNames> logged;

/// Says what an option is called now, once for each kind and name.
void log_earlier_name(const std::string& kind, const std::string& earlier, const std::string& now) {
  {
    const std::scoped_lock lock{logged_mutex};
    if (!logged.get([] { return LoggedNames{}; }).names.emplace(kind, earlier).second) return;
  }
  log_warn("an option of a layer is given under an earlier name",
           {{"kind", kind}, {"option", earlier}, {"now", now}});
}

}  // namespace

const Tensor& LayerCall::variable(std::string_view name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end())
    throw Error{"layer",
                ErrorCode::internal,
                "a layer reads a variable that it did not declare",
                {{"variable", std::string{name}}}};
  return found->second;
}

bool is_word(std::string_view name) noexcept {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && letter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || digit(c); });
}

void check(const LayerDefinition& definition) {
  const auto refuse = [&](const std::string& why) {
    throw Error{definition.name.empty() ? "layer" : definition.name,
                ErrorCode::invalid_argument,
                "the kind of layers '" + definition.name + "' " + why,
                {{"kind", definition.name}}};
  };
  if (definition.name.empty()) refuse("has no name");
  if (!definition.apply) refuse("has no function `apply`, which computes its outputs");
  if (definition.outputs == 0 && !definition.count_outputs)
    refuse("has no outputs, expected at least 1");
  if (definition.least_inputs > definition.most_inputs)
    refuse("takes at least " + std::to_string(definition.least_inputs) + " inputs and at most " +
           std::to_string(definition.most_inputs));
  std::set<std::string_view> names;
  for (const ParamSpec& option : definition.options) {
    const std::string which = "has an option '" + option.name + "'";
    if (!is_word(option.name))
      refuse(which + ", expected letters, digits and _ that begin with no digit");
    if (option.name == "name") refuse(which + ", which is what the layer is called");
    if (!names.insert(option.name).second) refuse(which + " twice");
    if (option.fallback && static_cast<ParamType>(option.fallback->index()) != option.type)
      refuse(which + " of type " + std::string{to_string(option.type)} +
             ", whose default is of another: " + to_string(*option.fallback));
  }
  for (const auto& [earlier, now] : definition.earlier_names) {
    const std::string which = "has the earlier name '" + earlier + "'";
    if (names.contains(earlier)) refuse(which + ", which is still an option");
    if (!names.contains(now)) refuse(which + " of '" + now + "', which is not an option");
  }
}

Params with_current_names(const LayerDefinition& definition, const Params& given) {
  if (definition.earlier_names.empty()) return given;
  Params made;
  for (const Params::Entry& entry : given.entries()) {
    const auto renamed = definition.earlier_names.find(entry.name);
    const std::string& name =
        renamed == definition.earlier_names.end() ? entry.name : renamed->second;
    if (made.find(name) != nullptr)
      throw Error{definition.name,
                  ErrorCode::invalid_parameter,
                  "parameter '" + name + "' is given twice, once under an earlier name",
                  {{"parameter", name}}};
    if (renamed != definition.earlier_names.end())
      log_earlier_name(definition.name, entry.name, name);
    made.set(name, entry.value);
  }
  return made;
}

void LayerTable::add(LayerDefinition definition) {
  check(definition);
  const std::string name = definition.name;
  if (!definitions_.emplace(name, std::move(definition)).second)
    throw Error{
        "layer", ErrorCode::already_exists, "there is a layer '" + name + "'", {{"name", name}}};
}

const LayerDefinition* LayerTable::find(std::string_view name) const noexcept {
  const auto found = definitions_.find(name);
  return found == definitions_.end() ? nullptr : &found->second;
}

std::vector<const LayerDefinition*> LayerTable::list() const {
  std::vector<const LayerDefinition*> all;
  for (const auto& [name, definition] : definitions_) all.push_back(&definition);
  return all;
}

const LayerTable& layer_table() {
  static constinit NeverDestroyed<LayerTable> table;
  return table.get([] {
    LayerTable made;
    layers::define_all(made);
    return made;
  });
}

}  // namespace stoker::nn
