// The weights of a Gaussian blur, and its parameters; gaussian_blur and sharpen share them.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/kernels/image/border.hpp"
#include "stoker/kernels/params.hpp"

namespace stoker::image {

inline constexpr std::int64_t max_blur_radius = 1024;

struct Gaussian {
  std::int64_t radius = 0;
  double sigma = 0;

  /// Reads `radius` and `sigma`. A sigma of 0 follows from the radius as in OpenCV's
  /// getGaussianKernel: 0.3·((size − 1)·0.5 − 1) + 0.8 with size = 2·radius + 1.
  [[nodiscard]] static Gaussian from(const ParamSet& params);

  /// exp(−k²/2σ²) for distance k, before normalisation.
  [[nodiscard]] double raw(std::int64_t k) const noexcept;
  /// What the 2·radius + 1 raw weights sum to.
  [[nodiscard]] double total() const noexcept;
  /// Normalised weights for the distances 0 … radius.
  [[nodiscard]] std::vector<double> weights() const;
};

/// radius, sigma and border.
[[nodiscard]] std::vector<ParamSpec> gaussian_params();

}  // namespace stoker::image
