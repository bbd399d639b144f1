#include "stoker/kernels/image/sampling.hpp"

#include <algorithm>
#include <cmath>

namespace stoker::image {
namespace {

/// floor((2i + 1) · in ⁄ (2 · out)): the input that output i's centre lies in.
std::int64_t nearest_index(std::int64_t i, std::int64_t in, std::int64_t out) noexcept {
  return std::min((2 * i + 1) * in / (2 * out), in - 1);
}

}  // namespace

double filter_weight(Filter filter, double x) noexcept {
  const double d = std::abs(x);
  if (filter == Filter::bilinear) return d < 1 ? 1 - d : 0;
  if (filter == Filter::nearest || d >= 2) return 0;
  constexpr double a = -0.5;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

std::int64_t filter_support(Filter filter) noexcept { return filter == Filter::bicubic ? 2 : 1; }

double filter_stretch(std::int64_t in, std::int64_t out, bool antialias) noexcept {
  return antialias && in > out ? static_cast<double>(in) / static_cast<double>(out) : 1.0;
}

Sampling sample_axis(Filter filter, std::int64_t in, std::int64_t out, bool antialias) {
  Sampling axis;
  axis.first.reserve(static_cast<std::size_t>(out));
  if (filter == Filter::nearest) {
    for (std::int64_t i = 0; i < out; ++i)
      axis.first.push_back(static_cast<std::int32_t>(nearest_index(i, in, out)));
    axis.weights.assign(static_cast<std::size_t>(out), 1.0F);
    return axis;
  }
  const double stretch = filter_stretch(in, out, antialias);
  const double reach = static_cast<double>(filter_support(filter)) * stretch;
  const auto window = static_cast<std::int64_t>(std::ceil(reach)) * 2;
  axis.taps = std::min(window, in);
  axis.weights.assign(static_cast<std::size_t>(out * axis.taps), 0.0F);

  std::vector<double> weights(static_cast<std::size_t>(axis.taps));
  for (std::int64_t i = 0; i < out; ++i) {
    const double centre =
        (static_cast<double>(i) + 0.5) * static_cast<double>(in) / static_cast<double>(out) - 0.5;
    const std::int64_t start = static_cast<std::int64_t>(std::floor(centre)) - window / 2 + 1;
    const std::int64_t first = std::clamp<std::int64_t>(start, 0, in - axis.taps);
    std::fill(weights.begin(), weights.end(), 0.0);
    double sum = 0;
    for (std::int64_t k = start; k < start + window; ++k) {
      const double weight = filter_weight(filter, (static_cast<double>(k) - centre) / stretch);
      weights[static_cast<std::size_t>(std::clamp<std::int64_t>(k, 0, in - 1) - first)] += weight;
      sum += weight;
    }
    axis.first.push_back(static_cast<std::int32_t>(first));
    for (std::int64_t k = 0; k < axis.taps; ++k)
      axis.weights[static_cast<std::size_t>(i * axis.taps + k)] =
          static_cast<float>(weights[static_cast<std::size_t>(k)] / sum);
  }
  return axis;
}

}  // namespace stoker::image
