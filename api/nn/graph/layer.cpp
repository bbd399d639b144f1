#include "stoker/api/nn/graph/layer.hpp"

#include "stoker/api/nn/graph/layer_list.hpp"
#include "stoker/runtime/base/nearest_name.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::nn {

const Tensor& LayerCall::variable(std::string_view name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end())
    throw Error{"layer",
                ErrorCode::internal,
                "a layer reads a variable that it did not declare",
                {{"variable", std::string{name}}}};
  return found->second;
}

void LayerTable::add(LayerDefinition definition) {
  const std::string name = definition.name;
  if (!definitions_.emplace(name, std::move(definition)).second)
    throw Error{
        "layer", ErrorCode::already_exists, "there is a layer '" + name + "'", {{"name", name}}};
}

const LayerDefinition& LayerTable::find(std::string_view name) const {
  if (const auto found = definitions_.find(name); found != definitions_.end()) return found->second;
  std::vector<std::string_view> known;
  for (const auto& [one, definition] : definitions_) known.push_back(one);
  const auto near = nearest_name(name, known);
  throw Error{"layer",
              ErrorCode::not_found,
              "there is no layer '" + std::string{name} + "'" +
                  (near ? "; did you mean '" + std::string{*near} + "'?" : ""),
              {{"name", std::string{name}}}};
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
