#include "stoker/api/tensor/math/random_vectors.hpp"

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/linear_algebra.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::random {
namespace {

Shape without_last(const Tensor& x, std::size_t count) {
  return Shape::make(x.shape().extents().first(x.rank() - count));
}

/// R with R·Rᵀ = covariance.
Tensor root_of(const Tensor& covariance, Root root) {
  if (root == Root::cholesky) return linalg::cholesky(covariance);
  if (root == Root::eigh) {
    const auto [values, vectors] = linalg::eigh(covariance);
    // Rounding may leave a zero a little below.
    return vectors * new_axis(sqrt(max(values, 0)), -2);
  }
  const auto [u, s, vt] = linalg::svd(covariance, false);
  return u * new_axis(sqrt(s), -2);
}

}  // namespace

Drawn multivariate_normal(const Tensor& key, const Tensor& mean, const Tensor& covariance,
                          const MultivariateNormal& how) {
  const auto refuse = [&](ErrorCode code, const std::string& reason) {
    return Error{
        "multivariate_normal",
        code,
        reason + ": mean " + mean.spec().to_string() + ", covariance " +
            covariance.spec().to_string(),
        {{"mean", mean.spec().to_string()}, {"covariance", covariance.spec().to_string()}}};
  };
  if (!is_float(how.dtype)) throw refuse(ErrorCode::invalid_parameter, "expected a float dtype");
  const bool fits = mean.rank() >= 1 && covariance.rank() >= 2 &&
                    covariance.shape()[covariance.rank() - 1] == mean.shape()[mean.rank() - 1] &&
                    covariance.shape()[covariance.rank() - 2] == mean.shape()[mean.rank() - 1];
  if (!fits) throw refuse(ErrorCode::shape_mismatch, "expected [.., n] and [.., n, n]");
  const auto given = stoker::broadcast(without_last(mean, 1), without_last(covariance, 2));
  if (!given) throw refuse(ErrorCode::shape_mismatch, "the leading axes do not fit");
  const Shape shape = how.shape.value_or(*given);
  const auto all = stoker::broadcast(*given, shape);
  if (!all || *all != shape || shape.rank() + 2 > Shape::max_rank)
    throw refuse(ErrorCode::shape_mismatch,
                 "the leading axes do not broadcast to " + shape.to_string());

  const std::int64_t n = mean.shape()[mean.rank() - 1];
  const DType within = how.dtype == DType::f64 ? DType::f64 : DType::f32;
  const auto [noise, next] = normal(key, shape.appended(n), 0, 1, how.dtype);
  const Tensor root = as_type(root_of(as_type(covariance, within), how.root), how.dtype);
  const Tensor moved = squeeze(matmul(root, new_axis(noise, -1)), Axes{-1});
  return {moved + as_type(mean, how.dtype), next};
}

}  // namespace stoker::random
