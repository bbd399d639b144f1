// y = activation(x · values · scale + bias) along the last axis: a dense layer whose kernel has 8
// bits. values and scale are states, so gradients reach only x and the bias. Model::quantize()
// makes such layers from trained dense layers.
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/functional/activation.hpp"
#include "stoker/api/nn/graph/layer_options.hpp"
#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn::layers {

struct QuantizedDense {
  static constexpr const char* kind = "quantized_dense";
  Required<std::int64_t> units = {};
  bool use_bias = true;
  InitializerName bias_initializer = initializers::zeros;
  ActivationName activation = linear;
  std::string name = {};
};
template <class V> void visit_options(QuantizedDense& o, V&& visit) {
  visit_units(o, visit);
  visit_use_bias(o, visit);
  visit_bias_initializer(o, visit);
  visit_activation(o, visit);
}

}  // namespace stoker::nn::layers
