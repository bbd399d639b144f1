// A bilinear product of two inputs along their last axes: y_u = activation(Σ a_i · kernel_uij · b_j
// + bias_u).
//
//     a [batch, …, in1], b [batch, …, in2]: [batch, …, units];  kernel [units, in1, in2]
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/functional/activation.hpp"
#include "stoker/api/nn/graph/layer_options.hpp"
#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn {

namespace layers {

struct Bilinear {
  static constexpr const char* kind = "bilinear";
  Required<std::int64_t> units = {};
  bool use_bias = true;
  InitializerName kernel_initializer = initializers::glorot_uniform;
  InitializerName bias_initializer = initializers::zeros;
  ActivationName activation = linear;
  std::string name = {};
};
template <class V> void visit_options(Bilinear& o, V&& visit) { visit_product(o, visit); }

}  // namespace layers

/// Pass `units` here, not in `options`.
[[nodiscard]] Node bilinear(const Node& a, const Node& b, std::int64_t units,
                            layers::Bilinear options = {});

}  // namespace stoker::nn
