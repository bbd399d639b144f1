// Where the pixels of a resized image come from, along one axis.
//
// Pixel centres lie at halves: output i of n looks at position (i + 1/2) · m / n − 1/2 among the m
// input pixels. Past the edges the edge pixel repeats.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/kernels/image/filter.hpp"

namespace stoker::image {

/// The kernel's value at distance `x` (nearest has none: 0).
[[nodiscard]] double filter_weight(Filter filter, double x) noexcept;
/// Pixels the kernel reaches to each side.
[[nodiscard]] std::int64_t filter_support(Filter filter) noexcept;
/// The width of the kernel: the ratio in ⁄ out where an antialiased axis shrinks, else 1.
[[nodiscard]] double filter_stretch(std::int64_t in, std::int64_t out, bool antialias) noexcept;

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
