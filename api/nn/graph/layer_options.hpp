// Options shared by many kinds of layers, with Axon's names and defaults, and the variables that
// they describe. A kind that visits them must have members of these names.
//
// Pure functions; any thread.
#pragma once

#include <vector>

#include "stoker/api/nn/graph/initializer.hpp"
#include "stoker/api/nn/graph/layer.hpp"

namespace stoker::nn::layers {

template <class O, class V> void visit_units(O& o, V&& visit) {
  visit("units", o.units, at_least(1), "extent of the last axis of the output");
}

template <class O, class V> void visit_activation(O& o, V&& visit) {
  visit("activation", o.activation, anything, "activation function of the result");
}

template <class O, class V> void visit_kernel_initializer(O& o, V&& visit) {
  visit("kernel_initializer", o.kernel_initializer, anything, "initial values of kernels");
}

template <class O, class V> void visit_bias_initializer(O& o, V&& visit) {
  visit("bias_initializer", o.bias_initializer, anything, "initial values of biases");
}

template <class O, class V> void visit_use_bias(O& o, V&& visit) {
  visit("use_bias", o.use_bias, anything, "adds a bias");
}

/// use_bias, kernel_initializer, bias_initializer.
template <class O, class V> void visit_kernel(O& o, V&& visit) {
  visit_use_bias(o, visit);
  visit_kernel_initializer(o, visit);
  visit_bias_initializer(o, visit);
}

/// The options of a layer that multiplies by a kernel: units, those of visit_kernel(), activation.
template <class O, class V> void visit_product(O& o, V&& visit) {
  visit_units(o, visit);
  visit_kernel(o, visit);
  visit_activation(o, visit);
}

/// Declares a kernel and, if use_bias is set, a bias [units].
template <class O>
[[nodiscard]] std::vector<VariableSpec> kernel_and_bias(const Shape& kernel, std::int64_t units,
                                                        const O& options) {
  std::vector<VariableSpec> all{{"kernel", kernel, options.kernel_initializer}};
  if (options.use_bias) all.push_back({"bias", Shape{units}, options.bias_initializer});
  return all;
}

}  // namespace stoker::nn::layers
