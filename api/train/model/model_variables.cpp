// The numbers of a model, and which of them are trained.
#include "stoker/api/train/model/model_data.hpp"

namespace stoker::nn {
namespace {

bool belongs(Part part, bool parameter, bool frozen) {
  switch (part) {
    case Part::parameters: return parameter;
    case Part::states: return !parameter;
    case Part::trainable_parameters: return parameter && !frozen;
    case Part::frozen_parameters: return parameter && frozen;
    case Part::trainable_states: return !parameter && !frozen;
    case Part::frozen_states: return !parameter && frozen;
  }
  throw Error{"variables", ErrorCode::internal, "no such part"};
}

}  // namespace

Variables Model::variables() const { return data_->now().state.variables(); }

Variables Model::variables(Part part) const {
  const auto [step, state] = data_->now();
  Variables found;
  for (const auto& [name, tensor] : state.variables()) {
    const bool is_frozen = step.frozen().contains(name.substr(0, name.find('.')));
    if (belongs(part, network().is_parameter(name), is_frozen)) found.emplace(name, tensor);
  }
  return found;
}

void Model::update_variables(Variables variables) {
  network().check(variables);
  data_->replace(variables);
}

void Model::merge_variables(const Variables& some) {
  Variables all = variables();
  for (const auto& [name, tensor] : some) all.insert_or_assign(name, tensor);
  network().check(all);
  data_->replace(some);
}

void Model::freeze(const std::vector<std::string>& layers) {
  for (const std::string& name : layers) (void)network().layer(name);
  const auto locked = data_->lock();
  std::set<std::string> frozen = data_->step.frozen();
  frozen.insert(layers.begin(), layers.end());
  data_->choose_frozen(std::move(frozen));
}

void Model::freeze(const std::function<bool(const LayerInfo&)>& which) {
  std::vector<std::string> layers;
  for (const LayerInfo& layer : network().layers())
    if (which(layer)) layers.push_back(layer.name);
  freeze(layers);
}

void Model::unfreeze(const std::vector<std::string>& layers) {
  for (const std::string& name : layers) (void)network().layer(name);
  const auto locked = data_->lock();
  std::set<std::string> frozen = data_->step.frozen();
  for (const std::string& name : layers) frozen.erase(name);
  data_->set_frozen(std::move(frozen));
}

std::set<std::string> Model::frozen() const { return data_->now().step.frozen(); }

}  // namespace stoker::nn
