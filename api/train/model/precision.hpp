// In which dtypes a network keeps its parameters and computes with them.
//
//     Precision mixed = precision("mixed(compute=bf16)");
//     Network running = with_precision(network, mixed);           // what is computed
//     Variables variables = stored(network, mixed, network.initialize(key));
//
// The names:
//   full    as the layers are
//   mixed(compute=f16, params=f32, output=f32, except="…")
//       Every layer casts its floating-point inputs and parameters to `compute` and gives that on;
//       parameters are stored as `params`, so that small steps are not lost; the network's outputs
//       are `output`, and so are losses. Layers whose names or kinds stand in `except`, apart by
//       spaces, compute in f32 and keep parameters of f32: at first those that normalise.
//       `params=f16, compute=f32` is a network whose weights take half of the memory.
// What layers keep themselves (means of batch_norm, 8-bit kernels) stays as it is.
//
// As Axon.MixedPrecision (https://hexdocs.pm/axon/Axon.MixedPrecision.html) and Keras' policies;
// Micikevicius et al., arXiv:1710.03740.
//
// Values and pure functions; any thread. Errors are thrown: not_found for a name and for an
// exception that is neither a layer's name nor a kind; invalid_parameter for options.
#pragma once

#include <string>
#include <vector>

#include "stoker/api/nn/graph/network.hpp"

namespace stoker::nn {

struct Precision {
  std::string text;  ///< what it was made from
  bool full = true;  ///< nothing is cast
  DType params = DType::f32;
  DType compute = DType::f32;
  DType output = DType::f32;
  std::vector<std::string> except = {};

  /// Whether a layer is one of those that stay in f32.
  [[nodiscard]] bool spares(const LayerInfo& layer) const;
};

[[nodiscard]] Precision precision(const Named& wanted);

/// The same network, whose layers cast; it has the same variables and cannot be written.
[[nodiscard]] Network with_precision(const Network& network, const Precision& precision);

/// Variables of the network in the dtypes that they are stored in.
[[nodiscard]] Variables stored(const Network& network, const Precision& precision,
                               Variables variables);

}  // namespace stoker::nn
