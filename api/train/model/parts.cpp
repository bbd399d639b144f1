#include "stoker/api/train/model/parts.hpp"

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

Variables part_of(const Variables& all, Part part, const Network& network,
                  const std::set<std::string>& frozen) {
  Variables found;
  for (const auto& [name, tensor] : all) {
    const bool is_frozen = frozen.contains(name.substr(0, name.find('.')));
    if (belongs(part, network.is_parameter(name), is_frozen)) found.emplace(name, tensor);
  }
  return found;
}

}  // namespace stoker::nn
