// Random vectors with correlated elements.
//
// Threads: any. Errors are thrown: invalid_parameter, shape_mismatch.
#pragma once

#include "stoker/api/tensor/math/random.hpp"

namespace stoker::random {

/// How the square root of the covariance is computed. Cholesky takes about a third of the work; the
/// others also accept singular matrices.
enum class Root : std::uint8_t { cholesky, eigh, svd };

struct MultivariateNormal {
  std::optional<Shape> shape = {};  ///< how many vectors; default: from mean and covariance
  Root root = Root::cholesky;
  DType dtype = DType::f32;
};

/// Normal vectors [shape.., n] around mean [.., n] with covariance [.., n, n], whose leading axes
/// broadcast to the shape.
[[nodiscard]] Drawn multivariate_normal(const Tensor& key, const Tensor& mean,
                                        const Tensor& covariance,
                                        const MultivariateNormal& how = {});

}  // namespace stoker::random
