// Layers that change how rows lie, and the one that applies a function. The batch stays where it is.
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/functional/activation.hpp"
#include "stoker/api/nn/graph/layer_options.hpp"
#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn {

namespace layers {

struct Activation {
  static constexpr const char* kind = "activation";
  Required<ActivationName> function = {};
  std::string name = {};
};
template <class V> void visit_options(Activation& o, V&& visit) {
  visit("function", o.function, anything, "an activation");
}

/// Added along the last axis.
struct Bias {
  static constexpr const char* kind = "bias";
  InitializerName bias_initializer = initializers::zeros;
  std::string name = {};
};
template <class V> void visit_options(Bias& o, V&& visit) { visit_bias_initializer(o, visit); }

/// Rows as vectors.
struct Flatten {
  static constexpr const char* kind = "flatten";
  std::string name = {};
};
template <class V> void visit_options(Flatten&, V&&) {}

struct Reshape {
  static constexpr const char* kind = "reshape";
  Required<Extents> shape = {};
  std::string name = {};
};
template <class V> void visit_options(Reshape& o, V&& visit) {
  visit("shape", o.shape, anything, "of a row; one may be -1: what is left");
}

/// `permutation` speaks of the row's axes, which it counts from 1: {2, 1} turns images.
struct Transpose {
  static constexpr const char* kind = "transpose";
  Extents permutation = {};
  std::string name = {};
};
template <class V> void visit_options(Transpose& o, V&& visit) {
  visit("permutation", o.permutation, anything, "of the axes from 1 on; none: turned round");
}

}  // namespace layers

// `options` without what is an argument.
[[nodiscard]] Node activation(const Node& x, ActivationName function,
                              layers::Activation options = {});
[[nodiscard]] Node flatten(const Node& x, const layers::Flatten& options = {});
[[nodiscard]] Node reshape(const Node& x, Extents row, layers::Reshape options = {});

}  // namespace stoker::nn
