// Random vectors whose elements vary together.
//
// Threads: any. Errors are thrown: invalid_parameter, shape_mismatch.
#pragma once

#include "stoker/api/tensor/math/random.hpp"

namespace stoker::random {

/// How a square root of the covariance is found: Cholesky's takes about a third of the work, the others
/// also take matrices that are singular.
enum class Root : std::uint8_t { cholesky, eigh, svd };

struct MultivariateNormal {
  std::optional<Shape> shape = {};  ///< how many vectors; default: as mean and covariance say
  Root root = Root::cholesky;
  DType dtype = DType::f32;
};

/// Normal vectors [shape.., n] around mean [.., n] with covariance [.., n, n], whose leading axes
/// broadcast to the shape.
[[nodiscard]] Drawn multivariate_normal(const Tensor& key, const Tensor& mean,
                                        const Tensor& covariance,
                                        const MultivariateNormal& how = {});

}  // namespace stoker::random
