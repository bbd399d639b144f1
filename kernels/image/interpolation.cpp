#include "stoker/kernels/image/interpolation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stoker::image {
namespace {

double sinc(double d) noexcept {
  const double at = std::numbers::pi * d;
  return at == 0 ? 1 : std::sin(at) / at;
}

}  // namespace

double Interpolation::weight(double distance) const noexcept {
  const double d = std::abs(distance);
  const auto most = static_cast<double>(reach);
  if (d >= most) return 0;
  if (form == Form::linear) return 1 - d;
  if (form == Form::lanczos) return sinc(d) * sinc(d / most);
  return d <= 1 ? cubic_within_one(coefficient, d) : cubic_within_two(coefficient, d);
}

double half_pixel_place(std::int64_t i, std::int64_t in, std::int64_t out) noexcept {
  return (static_cast<double>(i) + 0.5) * static_cast<double>(in) / static_cast<double>(out) - 0.5;
}

std::int64_t half_pixel_nearest(std::int64_t i, std::int64_t in, std::int64_t out) noexcept {
  return (2 * i + 1) * in / (2 * out);
}

double filter_stretch(std::int64_t in, std::int64_t out, bool antialias) noexcept {
  return antialias && in > out ? static_cast<double>(in) / static_cast<double>(out) : 1.0;
}

AxisWeights::AxisWeights(const Interpolation& filter, double stretch, std::int64_t in,
                         Beyond beyond)
    : filter_{filter},
      stretch_{stretch},
      in_{in},
      beyond_{beyond},
      side_{static_cast<std::int64_t>(std::ceil(static_cast<double>(filter.reach) * stretch))},
      weights_(static_cast<std::size_t>(std::min(2 * side_, in))) {}

AxisWeights::Taps AxisWeights::at(double place) {
  const std::int64_t start = static_cast<std::int64_t>(std::floor(place)) - side_ + 1;
  const std::int64_t end = start + 2 * side_;
  const std::int64_t first = std::clamp<std::int64_t>(start, 0, in_ - taps());
  const bool inside_only = beyond_ == Beyond::nothing;
  std::fill(weights_.begin(), weights_.end(), 0.0);
  double sum = 0;
  for (std::int64_t k = inside_only ? std::max<std::int64_t>(start, 0) : start;
       k < (inside_only ? std::min(end, in_) : end); ++k) {
    const double weight = filter_.weight((static_cast<double>(k) - place) / stretch_);
    weights_[static_cast<std::size_t>(std::clamp<std::int64_t>(k, 0, in_ - 1) - first)] += weight;
    sum += weight;
  }
  if (sum != 0)
    for (double& weight : weights_) weight /= sum;
  return {first, weights_};
}

}  // namespace stoker::image
