// The weights of a Gaussian blur, and its options; gaussian_blur and sharpen share them.
//
// Values; any thread. Nothing is checked here: the options' ranges are, when a ParamSet is resolved.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/kernels/image/border.hpp"
#include "stoker/kernels/options.hpp"

namespace stoker::image {

inline constexpr std::int64_t max_blur_radius = 1024;

/// The options radius, sigma and border.
template <class O, class V> void visit_blur(O& o, V&& visit) {
  visit("radius", o.radius, within(0, static_cast<double>(max_blur_radius)),
        "reach of the Gaussian in pixels; 0 does not blur");
  visit("sigma", o.sigma, within(0, 1e6),
        "standard deviation in pixels; 0: 0.3 (radius - 1) + 0.8");
  visit_border(o, visit);
}

/// The values of these options.
struct Blur {
  std::int64_t radius = 0;
  double sigma = 0;
  Border border = Border::replicate;

  template <class O> [[nodiscard]] static Blur of(const O& options) noexcept {
    return {options.radius, options.sigma, options.border};
  }
};

struct Gaussian {
  std::int64_t radius = 0;
  double sigma = 0;

  /// A sigma of 0 follows from the radius as in OpenCV's getGaussianKernel:
  /// 0.3·((size − 1)·0.5 − 1) + 0.8 with size = 2·radius + 1.
  [[nodiscard]] static Gaussian of(const Blur& blur) noexcept;

  /// exp(−k²/2σ²) for distance k, before normalisation.
  [[nodiscard]] double raw(std::int64_t k) const noexcept;
  /// The sum of the 2·radius + 1 raw weights.
  [[nodiscard]] double total() const noexcept;
  /// Normalised weights for the distances 0 … radius.
  [[nodiscard]] std::vector<double> weights() const;
};

}  // namespace stoker::image
