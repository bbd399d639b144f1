// Layers that change the shape of rows, and the activation and bias layers. The batch axis stays
// first.
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
  visit("function", o.function, anything, "the activation function");
}

/// Adds a learned bias along the last axis.
struct Bias {
  static constexpr const char* kind = "bias";
  InitializerName bias_initializer = initializers::zeros;
  std::string name = {};
};
template <class V> void visit_options(Bias& o, V&& visit) { visit_bias_initializer(o, visit); }

/// Flattens each row to a vector.
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
  visit("shape", o.shape, anything,
        "extents of a row; one may be -1 and then follows from the others");
}

/// `permutation` lists the row's axes, counted from 1: {2, 1} transposes images.
struct Transpose {
  static constexpr const char* kind = "transpose";
  Extents permutation = {};
  std::string name = {};
};
template <class V> void visit_options(Transpose& o, V&& visit) {
  visit("permutation", o.permutation, anything,
        "new order of a row's axes, which count from 1; empty: reversed");
}

}  // namespace layers

// Pass the second argument here, not in `options`.
[[nodiscard]] Node activation(const Node& x, ActivationName function,
                              layers::Activation options = {});
[[nodiscard]] Node flatten(const Node& x, const layers::Flatten& options = {});
[[nodiscard]] Node reshape(const Node& x, Extents row, layers::Reshape options = {});

}  // namespace stoker::nn
