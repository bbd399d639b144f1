// The final transformation of scores in ai.onnx.ml: the attribute post_transform of trees, linear models and support
// vectors.
//
// Pure functions; any thread. Errors are thrown.
#pragma once

#include <cstdint>

#include "stoker/api/onnx/core/call.hpp"

namespace stoker::onnx {

/// In the order in which TreeEnsemble numbers them.
enum class PostTransform : std::uint8_t { none, softmax, logistic, softmax_zero, probit };

/// The attribute, a name or (TreeEnsemble) a number; none if it is missing. Throws invalid_parameter for any other.
[[nodiscard]] PostTransform post_transform_of(const Call& call);

/// Transforms `scores` [..., n], floats. softmax_zero is a softmax over the scores that are not 0 (beyond ±1e-7), and 0
/// for the others. probit is the quantile of the normal distribution: NaN beyond [0, 1].
[[nodiscard]] Tensor transformed(const Tensor& scores, PostTransform how);

}  // namespace stoker::onnx
