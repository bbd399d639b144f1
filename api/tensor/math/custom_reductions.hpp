// Reductions by a user function. It must be elementwise and associative, f(a, f(b, c)) = f(f(a, b),
// c):
//
//     Tensor longest = reduce(x, 0, [](const Tensor& a, const Tensor& b) { return max(a, b); });
//
// The function is called a few times, with tensors: the axis is halved until one element is left,
// or the positions of a window are combined in turn. The accumulator is its first argument; its
// result must have the arguments' shape. Gradients pass through it.
//
// Threads: any. Errors are thrown: invalid_parameter, shape_mismatch, and the errors of the
// function.
#pragma once

#include <functional>

#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/math/windows.hpp"

namespace stoker {

using Combine = std::function<Tensor(const Tensor& a, const Tensor& b)>;

/// f(start, x[0], x[1], …) along axes. Without elements it is `start`. The dtype is x's merged with
/// start's.
[[nodiscard]] Tensor reduce(const Tensor& x, const TensorLike& start, const Combine& function,
                            const Reduce& over = {});
/// The same for each window; padding counts as `start`.
[[nodiscard]] Tensor window_reduce(const Tensor& x, const TensorLike& start, const Window& window,
                                   const Combine& function);

}  // namespace stoker
