// Reductions by any function of the program's that is associative, f(a, f(b, c)) = f(f(a, b), c), and
// element by element:
//
//     Tensor longest = reduce(x, 0, [](const Tensor& a, const Tensor& b) { return max(a, b); });
//
// The function is called a few times, with tensors: the axis is halved until one element is left, or the
// positions of a window are taken one after the other. It has the accumulator on the left and gives a
// tensor like its arguments. Gradients pass through what it does.
//
// Threads: any. Errors are thrown: invalid_parameter, shape_mismatch, what the function throws.
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
/// The same of each window; `start` stands in the padding, too.
[[nodiscard]] Tensor window_reduce(const Tensor& x, const TensorLike& start, const Window& window,
                                   const Combine& function);

}  // namespace stoker
