// Where the pixels of a resized image come from, along one axis: at half_pixel_place(), and past the edges
// the edge pixel repeats.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/kernels/image/filter.hpp"
#include "stoker/kernels/image/interpolation.hpp"

namespace stoker::image {

/// Precondition: not nearest, which has no weights.
[[nodiscard]] Interpolation interpolation_of(Filter filter) noexcept;

/// For each output, `taps` consecutive inputs from `first` on and their weights, which sum to 1.
/// What would lie past an edge is added to the edge pixel's weight, so that all inputs exist.
struct Sampling {
  std::int64_t taps = 1;
  std::vector<std::int32_t> first;
  std::vector<float> weights;  ///< taps for each output
};

/// Preconditions: in ≥ 1, and in and out fit in 31 bits.
[[nodiscard]] Sampling sample_axis(Filter filter, std::int64_t in, std::int64_t out,
                                   bool antialias);

}  // namespace stoker::image
