// Which of a model's variables: what training changes by gradients and what layers keep themselves, of all
// layers, of those that are trained, of those that are frozen.
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

/// Those of `all`, the network's variables by "layer.variable", that belong to the part.
[[nodiscard]] Variables part_of(const Variables& all, Part part, const Network& network,
                                const std::set<std::string>& frozen);

}  // namespace stoker::nn
