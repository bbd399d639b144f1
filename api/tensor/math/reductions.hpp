// Many elements into few.
//
// Threads: any. Errors are thrown: invalid_parameter for axes that are not there, shape_mismatch for a
// largest of nothing.
#pragma once

#include "stoker/api/tensor/core/axes.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// Which axes go, and whether they stay with extent 1.
struct Reduce {
  std::optional<Axes> axes = {};  ///< none given: all
  bool keep = false;
};

/// Integers widen: u8, u16 and u32 to u32, s8 and s16 to s32, u64 to s64; and wrap.
[[nodiscard]] Tensor sum(const Tensor& x, const Reduce& over = {});
[[nodiscard]] Tensor product(const Tensor& x, const Reduce& over = {});
/// Integers give f32.
[[nodiscard]] Tensor mean(const Tensor& x, const Reduce& over = {});
/// The mean squared distance from the mean, divided by n - ddof instead of n; of complex numbers real, as
/// in NumPy.
[[nodiscard]] Tensor variance(const Tensor& x, const Reduce& over = {}, std::int64_t ddof = 0);
[[nodiscard]] Tensor standard_deviation(const Tensor& x, const Reduce& over = {},
                                        std::int64_t ddof = 0);
/// NaN wins. The gradient is shared evenly among all that are equal.
[[nodiscard]] Tensor reduce_max(const Tensor& x, const Reduce& over = {});
[[nodiscard]] Tensor reduce_min(const Tensor& x, const Reduce& over = {});
/// u8: every element is not 0; one is not.
[[nodiscard]] Tensor all(const Tensor& x, const Reduce& over = {});
[[nodiscard]] Tensor any(const Tensor& x, const Reduce& over = {});
/// log(sum(exp(x))) without overflow; of -inf alone it is -inf.
[[nodiscard]] Tensor logsumexp(const Tensor& x, const Reduce& over = {});

enum class TieBreak : std::uint8_t { low, high };
struct Arg {
  std::optional<std::int64_t> axis = {};  ///< none given: over all elements, row-major
  bool keep = false;
  TieBreak ties = TieBreak::low;
};
/// Where the largest is, as s32; the first NaN if there is one.
[[nodiscard]] Tensor argmax(const Tensor& x, const Arg& over = {});
[[nodiscard]] Tensor argmin(const Tensor& x, const Arg& over = {});

/// Whether all elements of `a` are as near as atol + rtol·|b| to those of `b`; a scalar of u8. Equal
/// infinities are near.
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
/// (x - mean) / sqrt(variance + epsilon) over the axes from `axis` on, times gamma, plus beta, which
/// have the shape of those axes. Either may be left out.
[[nodiscard]] Tensor layer_norm(const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {},
                                std::int64_t axis = -1, double epsilon = 1e-5);

}  // namespace stoker
