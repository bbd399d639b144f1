// A layer of the table with random variables: a case "layer.KIND".
//
// What compares gets the options as they were given; defaults it has of its own.
//
// Not for several threads. Errors are thrown: what the layer throws for options that do not fit.
#pragma once

#include "draw.hpp"
#include "record.hpp"
#include "stoker/kernels/params.hpp"

namespace stoker::compare {

struct LayerCase {
  std::string kind;
  Params options;
  Tensors inputs;
  DType variables = DType::f32;
  Range range = Range::moderate;  ///< of variables; variances are positive
  bool training = false;
};

/// Applies it and records outputs, then the states that it leaves, by name.
void record_layer(Draw& draw, Record& record, const LayerCase& one);

/// A dtype and what variables have beside it: mostly the same, else f32.
struct Dtypes {
  DType x;
  DType variables;
};
[[nodiscard]] Dtypes layer_dtypes(Draw& draw);
/// Mostly together.
[[nodiscard]] Way layer_way(Draw& draw);
/// "tanh", "leaky_relu(alpha=0.2)"; of half of the layers "linear".
[[nodiscard]] std::string activation_name(Draw& draw);
[[nodiscard]] Shape shape_of(const std::vector<std::int64_t>& extents);

}  // namespace stoker::compare
