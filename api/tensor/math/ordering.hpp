// Order along an axis: sorted, counted up, and the differences.
//
// Threads: any. Errors are thrown: invalid_parameter, dtype_mismatch.
#pragma once

#include "stoker/api/tensor/math/reductions.hpp"

namespace stoker {

enum class Direction : std::uint8_t { ascending, descending };

/// Stable. NaN counts as the largest, -0.0 and 0.0 as equal.
[[nodiscard]] Tensor sort(const Tensor& x, std::int64_t axis = 0,
                          Direction direction = Direction::ascending);
/// The places from which sort() takes its elements, as s32.
[[nodiscard]] Tensor argsort(const Tensor& x, std::int64_t axis = 0,
                             Direction direction = Direction::ascending);
struct TopK {
  Tensor values;
  Tensor indices;  ///< s32
};
/// The k largest of the last axis, descending, NaN first.
[[nodiscard]] TopK top_k(const Tensor& x, std::int64_t k = 1);

/// Running reduction along an axis, from the front or, reversed, from the end. NaN propagates. Sums and
/// products widen integers as sum() does. The gradient of cumulative_product multiplies stretches of x: where
/// a stretch overflows, the gradient may be infinite or NaN though the result is finite.
[[nodiscard]] Tensor cumulative_sum(const Tensor& x, std::int64_t axis = 0, bool reverse = false);
[[nodiscard]] Tensor cumulative_product(const Tensor& x, std::int64_t axis = 0,
                                        bool reverse = false);
[[nodiscard]] Tensor cumulative_max(const Tensor& x, std::int64_t axis = 0, bool reverse = false);
[[nodiscard]] Tensor cumulative_min(const Tensor& x, std::int64_t axis = 0, bool reverse = false);
/// Each element less the one before it, `order` times.
[[nodiscard]] Tensor diff(const Tensor& x, std::int64_t order = 1, std::int64_t axis = -1);
/// The middle one, or the mean of both: then a float.
[[nodiscard]] Tensor median(const Tensor& x, std::optional<std::int64_t> axis = {},
                            bool keep = false);

}  // namespace stoker
