// What samples say: weighted means, the most frequent value, covariances.
//
// Threads: any. Errors are thrown: shape_mismatch, invalid_parameter.
#pragma once

#include "stoker/api/tensor/math/reductions.hpp"

namespace stoker {

/// sum(x·w) / sum(w). Weights broadcast; a vector of weights goes with the only axis that is reduced. NaN
/// where they add up to 0.
[[nodiscard]] Tensor weighted_mean(const Tensor& x, const Tensor& weights, const Reduce& over = {});
/// The value that comes most often, of several the smallest; along an axis or of all elements. NaN counts
/// as larger than all others and as different from itself.
[[nodiscard]] Tensor mode(const Tensor& x, std::optional<std::int64_t> axis = {},
                          bool keep = false);
/// How the columns of [.., samples, n] vary together: [.., n, n], divided by samples - ddof; of complex
/// numbers x · conj(y). Around their own means, or around `mean` [.., n].
[[nodiscard]] Tensor covariance(const Tensor& x, std::int64_t ddof = 0);
[[nodiscard]] Tensor covariance(const Tensor& x, const Tensor& mean, std::int64_t ddof = 0);
/// log(sum(scale·exp(x))) without overflow; scales broadcast.
[[nodiscard]] Tensor logsumexp(const Tensor& x, const Tensor& scale, const Reduce& over);

}  // namespace stoker
