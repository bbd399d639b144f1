// The dtypes in which a network stores its parameters and computes.
//
//     Precision mixed = precision(precisions::Mixed{.compute = DType::bf16});
//     Network running = with_precision(network, mixed);           // what is computed
//     Variables variables = stored(network, mixed, network.initialize(key));
//
// Layers' states (means of batch_norm, 8-bit kernels) keep their dtypes.
//
// As Axon.MixedPrecision (https://hexdocs.pm/axon/Axon.MixedPrecision.html) and Keras' policies;
// Micikevicius et al., arXiv:1710.03740.
//
// Values and pure functions; any thread. Errors are thrown: not_found for an unknown name, and for
// an entry of `except` that is neither a layer's name nor a kind; invalid_parameter for options out
// of range.
#pragma once

#include <string>
#include <vector>

#include "stoker/api/nn/graph/choice.hpp"
#include "stoker/api/nn/graph/network.hpp"

namespace stoker::nn {

struct Precision {
  std::string text;  ///< the text it was made from
  bool full = true;  ///< no casts
  DType params = DType::f32;
  DType compute = DType::f32;
  DType output = DType::f32;
  std::vector<std::string> except = {};

  /// Whether the layer is excepted and stays in f32.
  [[nodiscard]] bool spares(const LayerInfo& layer) const;
};

using PrecisionName = Choice<struct PrecisionFamily>;
[[nodiscard]] Precision precision(const PrecisionName& wanted);
/// All precisions, in the order of the table.
[[nodiscard]] std::vector<NamedKind> precision_kinds();

namespace precisions {

/// No casts.
struct Full {
  using Family = PrecisionName;
  static constexpr const char* kind = "full";
};
template <class V> void visit_options(Full&, V&&) {}

/// Every layer casts its floating-point inputs and parameters to `compute`, and its results stay in
/// it. Parameters are stored as `params`, so that small steps are not lost; outputs and losses are
/// `output`. Layers whose names or kinds are in `except` (separated by spaces) compute and store
/// parameters in f32. With params f16 and compute f32, weights take half the memory.
struct Mixed {
  using Family = PrecisionName;
  static constexpr const char* kind = "mixed";
  DType compute = DType::f16;
  DType params = DType::f32;
  DType output = DType::f32;
  std::string except = "batch_norm layer_norm group_norm instance_norm rms_norm";
};
[[nodiscard]] constexpr OptionWords<DType, 4> float_words() {
  return one_of<DType>(
      {{"f16", DType::f16}, {"bf16", DType::bf16}, {"f32", DType::f32}, {"f64", DType::f64}});
}
template <class V> void visit_options(Mixed& o, V&& visit) {
  visit("compute", o.compute, float_words(), "dtype in which layers compute");
  visit("params", o.params, float_words(), "dtype in which parameters are stored");
  visit("output", o.output, float_words(), "dtype of the network's outputs");
  visit("except", o.except, anything,
        "names or kinds of layers that stay in f32, separated by spaces");
}

}  // namespace precisions

/// The same network with layers that cast. It has the same variables and cannot be saved.
[[nodiscard]] Network with_precision(const Network& network, const Precision& precision);

/// Converts variables to the dtypes in which they are stored.
[[nodiscard]] Variables stored(const Network& network, const Precision& precision,
                               Variables variables);

}  // namespace stoker::nn
