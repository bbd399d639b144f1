// Windows that slide over an array: what their parameters mean, and the passes that reduce them one
// axis at a time. Shared by window_reduce and window_scatter.
//
// Along an axis of extent e with base dilation b, windows lie on a line of low + ((e - 1) b + 1) +
// high places; element i is at place low + i b, all other places count as the neutral element. Window
// r begins at place r · stride, its tap t lies t · window_dilation further.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "stoker/kernels/call.hpp"

namespace stoker::kernels::window_reduce {

/// Lists by axis; an empty one is all ones (paddings: all zeros), but for `window` of rank > 0.
struct WindowParams {
  std::span<const std::int64_t> window;
  std::span<const std::int64_t> strides;
  std::span<const std::int64_t> padding_low;
  std::span<const std::int64_t> padding_high;
  std::span<const std::int64_t> window_dilations = {};
  std::span<const std::int64_t> base_dilations = {};
};

struct WindowAxis {
  std::int64_t in = 1;
  std::int64_t out = 1;
  std::int64_t window = 1;
  std::int64_t stride = 1;
  std::int64_t low = 0;
  std::int64_t window_dilation = 1;
  std::int64_t base_dilation = 1;

  /// Whether output and input elements are the same.
  [[nodiscard]] bool trivial() const noexcept {
    return window == 1 && stride == 1 && low == 0 && base_dilation == 1 && in == out;
  }
};

/// One for each axis of `shape`. invalid_parameter if a list has another length than the rank,
/// shape_mismatch if a window does not fit its padded axis; an axis without places has no windows.
[[nodiscard]] Result<std::vector<WindowAxis>> window_axes(std::string_view op, const Shape& shape,
                                                          const WindowParams& params);
[[nodiscard]] Result<Shape> windows_shape(std::string_view op, std::span<const WindowAxis> axes);

/// One axis of an array [outer, axis.in, inner], reduced to [outer, axis.out, inner].
struct Pass {
  std::int64_t outer = 1;
  WindowAxis axis;
  std::int64_t inner = 1;

  [[nodiscard]] std::int64_t results() const noexcept { return outer * axis.out * inner; }
};

/// At least one pass, the innermost axis first.
[[nodiscard]] std::vector<Pass> passes(std::span<const WindowAxis> axes);

}  // namespace stoker::kernels::window_reduce
