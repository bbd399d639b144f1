// y = activation(x · kernel + bias) along the last axis.
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/functional/activation.hpp"
#include "stoker/api/nn/graph/layer_options.hpp"
#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn {

namespace layers {

struct Dense {
  static constexpr const char* kind = "dense";
  Required<std::int64_t> units = {};
  bool use_bias = true;
  InitializerName kernel_initializer = initializers::glorot_uniform;
  InitializerName bias_initializer = initializers::zeros;
  ActivationName activation = linear;
  std::string name = {};
};
template <class V> void visit_options(Dense& o, V&& visit) { visit_product(o, visit); }

}  // namespace layers

/// Pass `units` here, not in `options`.
[[nodiscard]] Node dense(const Node& x, std::int64_t units, layers::Dense options = {});

}  // namespace stoker::nn
