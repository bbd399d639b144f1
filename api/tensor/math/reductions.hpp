// Reductions over axes.
//
// Threads: any. Errors are thrown: invalid_parameter for axes out of range, shape_mismatch for a
// maximum or minimum of no elements.
#pragma once

#include "stoker/api/tensor/core/axes.hpp"
#include "stoker/api/tensor/core/tensor.hpp"
#include "stoker/kernels/arg_reduce/options.hpp"

namespace stoker {

/// The axes to reduce, and whether they are kept with extent 1.
struct Reduce {
  std::optional<Axes> axes = {};  ///< none given: all
  bool keepdims = false;
};

/// Integers widen (u8, u16 and u32 to u32, s8 and s16 to s32, u64 to s64) and wrap.
[[nodiscard]] Tensor sum(const Tensor& x, const Reduce& over = {});
[[nodiscard]] Tensor product(const Tensor& x, const Reduce& over = {});
/// Integers give f32.
[[nodiscard]] Tensor mean(const Tensor& x, const Reduce& over = {});
/// The sum of squared distances from the mean, divided by n - ddof; real for complex numbers, as in
/// NumPy.
[[nodiscard]] Tensor variance(const Tensor& x, const Reduce& over = {}, std::int64_t ddof = 0);
[[nodiscard]] Tensor standard_deviation(const Tensor& x, const Reduce& over = {},
                                        std::int64_t ddof = 0);
/// NaN propagates. The gradient is shared evenly among equal elements.
[[nodiscard]] Tensor reduce_max(const Tensor& x, const Reduce& over = {});
[[nodiscard]] Tensor reduce_min(const Tensor& x, const Reduce& over = {});
/// u8: whether all elements, or any element, is not 0.
[[nodiscard]] Tensor all(const Tensor& x, const Reduce& over = {});
[[nodiscard]] Tensor any(const Tensor& x, const Reduce& over = {});
/// log(sum(exp(x))) without overflow; -inf if all elements are -inf.
[[nodiscard]] Tensor logsumexp(const Tensor& x, const Reduce& over = {});

using kernels::TieBreak;
struct Arg {
  std::optional<std::int64_t> axis = {};  ///< none given: over all elements, row-major
  bool keepdims = false;
  TieBreak ties = TieBreak::low;
};
/// The index of the largest (smallest) element, as s32; of the first NaN if there is one.
[[nodiscard]] Tensor argmax(const Tensor& x, const Arg& over = {});
[[nodiscard]] Tensor argmin(const Tensor& x, const Arg& over = {});

/// Tolerances of all_close(): a u8 scalar that is 1 if |a - b| ≤ atol + rtol·|b| everywhere. Equal
/// infinities are close.
struct Closeness {
  double rtol = 1e-5;
  double atol = 1e-8;
  bool equal_nan = false;
};
[[nodiscard]] Tensor all_close(const TensorLike& a, const TensorLike& b, const Closeness& how = {});

/// exp(x) / sum(exp(x)) along an axis.
[[nodiscard]] Tensor softmax(const Tensor& x, std::int64_t axis = -1);
/// log(softmax(x)).
[[nodiscard]] Tensor log_softmax(const Tensor& x, std::int64_t axis = -1);
/// (x - mean) / sqrt(variance + epsilon) · gamma + beta, over the axes from `axis` to the last.
/// gamma and beta have the shape of those axes; either may be empty.
[[nodiscard]] Tensor layer_norm(const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {},
                                std::int64_t axis = -1, double epsilon = 1e-5);

}  // namespace stoker
