// Selects a model's variables: parameters or states, of all, of trainable or of frozen layers.
//
// Pure functions; any thread.
#pragma once

#include <set>
#include <string>

#include "stoker/api/nn/graph/network.hpp"

namespace stoker::nn {

enum class Part : std::uint8_t {
  parameters,
  states,
  trainable_parameters,
  frozen_parameters,
  trainable_states,
  frozen_states
};

/// The variables in `all`, by "layer.variable", that belong to the part.
[[nodiscard]] Variables part_of(const Variables& all, Part part, const Network& network,
                                const std::set<std::string>& frozen);

}  // namespace stoker::nn
