// Reductions over windows that slide along the axes.
//
// Threads: any. Errors are thrown: invalid_parameter, shape_mismatch, dtype_mismatch.
#pragma once

#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker {

/// The padding around the input of a window or kernel.
enum class PadRule : std::uint8_t {
  valid,  ///< none
  same,   ///< keeps the shape with strides of 1; an odd element goes to the end
};

struct Window {
  Axes dimensions;                   ///< one extent for each axis
  std::optional<Axes> strides = {};  ///< default 1
  std::variant<PadRule, std::vector<std::pair<std::int64_t, std::int64_t>>> padding =
      PadRule::valid;
  std::optional<Axes> dilations = {};  ///< default 1
};

namespace detail {
/// A window's options with all defaults filled in.
struct CompleteWindow {
  Axes window, strides, low, high, dilations;
};
[[nodiscard]] CompleteWindow complete_window(const char* op, const Tensor& x, const Window& window);
}  // namespace detail

/// Padding counts as 0 for sums and 1 for products. Integers widen as in sum().
[[nodiscard]] Tensor window_sum(const Tensor& x, const Window& window);
[[nodiscard]] Tensor window_product(const Tensor& x, const Window& window);
/// Padding counts as the lowest value for max and the highest for min.
[[nodiscard]] Tensor window_max(const Tensor& x, const Window& window);
[[nodiscard]] Tensor window_min(const Tensor& x, const Window& window);
/// The sum divided by the size of the whole window, padding included.
[[nodiscard]] Tensor window_mean(const Tensor& x, const Window& window);
/// Adds each element of `source` to `init` at the position of the first maximum (minimum) of its
/// window of x.
[[nodiscard]] Tensor window_scatter_max(const Tensor& x, const Tensor& source,
                                        const TensorLike& init, const Window& window);
[[nodiscard]] Tensor window_scatter_min(const Tensor& x, const Tensor& source,
                                        const TensorLike& init, const Window& window);

}  // namespace stoker
