// Sample statistics: weighted means, the most frequent value, covariances.
//
// Threads: any. Errors are thrown: shape_mismatch, invalid_parameter.
#pragma once

#include "stoker/api/tensor/math/reductions.hpp"

namespace stoker {

/// sum(x·w) / sum(w). Weights broadcast; if one axis is reduced, a vector of weights applies to it.
/// NaN where the weights add up to 0.
[[nodiscard]] Tensor weighted_mean(const Tensor& x, const Tensor& weights, const Reduce& over = {});
/// The most frequent value, along an axis or of all elements; the smallest one in a tie. NaN counts
/// as the largest value and as unequal to itself.
[[nodiscard]] Tensor mode(const Tensor& x, std::optional<std::int64_t> axis = {},
                          bool keepdims = false);
/// The covariance [.., n, n] of the columns of [.., samples, n], divided by samples - ddof; x ·
/// conj(y) for complex numbers. Deviations are from the columns' own means, or from `mean` [.., n].
[[nodiscard]] Tensor covariance(const Tensor& x, std::int64_t ddof = 0);
[[nodiscard]] Tensor covariance(const Tensor& x, const Tensor& mean, std::int64_t ddof = 0);
/// log(sum(scale·exp(x))) without overflow; scales broadcast.
[[nodiscard]] Tensor logsumexp(const Tensor& x, const Tensor& scale, const Reduce& over);

}  // namespace stoker
