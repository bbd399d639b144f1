#include "stoker/kernels/image/sampling.hpp"

namespace stoker::image {

Interpolation interpolation_of(Filter filter) noexcept {
  return filter == Filter::bicubic ? Interpolation::cubic() : Interpolation::linear();
}

Sampling sample_axis(Filter filter, std::int64_t in, std::int64_t out, bool antialias) {
  Sampling axis;
  axis.first.reserve(static_cast<std::size_t>(out));
  if (filter == Filter::nearest) {
    for (std::int64_t i = 0; i < out; ++i)
      axis.first.push_back(static_cast<std::int32_t>(half_pixel_nearest(i, in, out)));
    axis.weights.assign(static_cast<std::size_t>(out), 1.0F);
    return axis;
  }
  AxisWeights weights{interpolation_of(filter), filter_stretch(in, out, antialias), in,
                      Beyond::edge};
  axis.taps = weights.taps();
  axis.weights.reserve(static_cast<std::size_t>(out * axis.taps));
  for (std::int64_t i = 0; i < out; ++i) {
    const AxisWeights::Taps taps = weights.at(half_pixel_place(i, in, out));
    axis.first.push_back(static_cast<std::int32_t>(taps.first));
    for (const double weight : taps.weights) axis.weights.push_back(static_cast<float>(weight));
  }
  return axis;
}

}  // namespace stoker::image
