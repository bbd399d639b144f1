// In which dtypes a network keeps its parameters and computes with them.
//
//     Precision mixed = precision(precisions::Mixed{.compute = DType::bf16});
//     Network running = with_precision(network, mixed);           // what is computed
//     Variables variables = stored(network, mixed, network.initialize(key));
//
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

#include "stoker/api/nn/graph/choice.hpp"
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

using PrecisionName = Choice<struct PrecisionFamily>;
[[nodiscard]] Precision precision(const PrecisionName& wanted);
/// All, in the order of the table.
[[nodiscard]] std::vector<NamedKind> precision_kinds();

namespace precisions {

/// As the layers are.
struct Full {
  using Family = PrecisionName;
  static constexpr const char* kind = "full";
};
template <class V> void visit_options(Full&, V&&) {}

/// Every layer casts its floating-point inputs and parameters to `compute` and gives that on;
/// parameters are stored as `params`, so that small steps are not lost; the network's outputs are
/// `output`, and so are losses. Layers whose names or kinds stand in `except`, apart by spaces,
/// compute in f32 and keep parameters of f32. With params f16 and compute f32 the weights of a
/// network take half of the memory.
struct Mixed {
  using Family = PrecisionName;
  static constexpr const char* kind = "mixed";
  DType compute = DType::f16;
  DType params = DType::f32;
  DType output = DType::f32;
  std::string except = "batch_norm layer_norm group_norm instance_norm rms_norm";
};
[[nodiscard]] inline Words<DType> float_words() {
  return one_of<DType>(
      {{"f16", DType::f16}, {"bf16", DType::bf16}, {"f32", DType::f32}, {"f64", DType::f64}});
}
template <class V> void visit_options(Mixed& o, V&& visit) {
  visit("compute", o.compute, float_words(), "what layers compute in");
  visit("params", o.params, float_words(), "what parameters are stored as");
  visit("output", o.output, float_words(), "what the network gives");
  visit("except", o.except, anything, "names or kinds of layers that stay in f32, apart by spaces");
}

}  // namespace precisions

/// The same network, whose layers cast; it has the same variables and cannot be written.
[[nodiscard]] Network with_precision(const Network& network, const Precision& precision);

/// Variables of the network in the dtypes that they are stored in.
[[nodiscard]] Variables stored(const Network& network, const Precision& precision,
                               Variables variables);

}  // namespace stoker::nn
