// Reverse-mode differentiation as a transformation of the graph: what it makes are values like any
// other, so they can be differentiated again.
//
// Griewank, Walther: Evaluating Derivatives, 2nd edition, chapter 3.
#pragma once

#include "stoker/pipeline/tensor/graph/value.hpp"

namespace stoker::expr {

/// A variable: the same elements, and a place to differentiate by. What is computed of it keeps its
/// history.
[[nodiscard]] Value variable(const Value& x);

/// For each of `inputs` the gradient of Σ seeds[i]·outputs[i]; zeros where nothing depends on it.
/// `inputs` are variables, or anything that the outputs were computed of and that is still there.
/// Throws unsupported, naming the operation, where one has no gradient.
[[nodiscard]] std::vector<Value> gradients(std::span<const Value> outputs,
                                           std::span<const Value> seeds,
                                           std::span<const Value> inputs);

}  // namespace stoker::expr
