// Sorting, running reductions and differences along an axis.
//
// Threads: any. Errors are thrown: invalid_parameter, dtype_mismatch.
#pragma once

#include "stoker/api/tensor/math/reductions.hpp"

namespace stoker {

enum class Direction : std::uint8_t { ascending, descending };

/// Stable. NaN counts as the largest, -0.0 and 0.0 as equal.
[[nodiscard]] Tensor sort(const Tensor& x, std::int64_t axis = 0,
                          Direction direction = Direction::ascending);
/// The indices that would sort x, as s32.
[[nodiscard]] Tensor argsort(const Tensor& x, std::int64_t axis = 0,
                             Direction direction = Direction::ascending);
struct TopK {
  Tensor values;
  Tensor indices;  ///< s32
};
/// The k largest elements along the last axis, descending, NaN first.
[[nodiscard]] TopK top_k(const Tensor& x, std::int64_t k = 1);

/// Running reduction along an axis, from the front or, reversed, from the end. NaN propagates. Sums
/// and products widen integers as sum() does. The gradient of cumulative_product multiplies
/// stretches of x: where a stretch overflows, the gradient may be infinite or NaN though the result
/// is finite.
[[nodiscard]] Tensor cumulative_sum(const Tensor& x, std::int64_t axis = 0, bool reverse = false);
[[nodiscard]] Tensor cumulative_product(const Tensor& x, std::int64_t axis = 0,
                                        bool reverse = false);
[[nodiscard]] Tensor cumulative_max(const Tensor& x, std::int64_t axis = 0, bool reverse = false);
[[nodiscard]] Tensor cumulative_min(const Tensor& x, std::int64_t axis = 0, bool reverse = false);
/// Differences between neighbours, taken `order` times.
[[nodiscard]] Tensor diff(const Tensor& x, std::int64_t order = 1, std::int64_t axis = -1);
/// The median of all elements or along an axis. For an even count it is the mean of the two middle
/// elements, as a float.
[[nodiscard]] Tensor median(const Tensor& x, std::optional<std::int64_t> axis = {},
                            bool keepdims = false);

}  // namespace stoker
