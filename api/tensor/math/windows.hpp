// Reductions over windows that slide along the axes.
//
// Threads: any. Errors are thrown: invalid_parameter, shape_mismatch, dtype_mismatch.
#pragma once

#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker {

/// How much lies around what a window or a kernel goes over.
enum class PadRule : std::uint8_t {
  valid,  ///< none
  same,   ///< so that with strides of 1 the shape stays; the odd one goes to the end
};

struct Window {
  Axes dimensions;                   ///< one extent for each axis
  std::optional<Axes> strides = {};  ///< default 1
  std::variant<PadRule, std::vector<std::pair<std::int64_t, std::int64_t>>> padding =
      PadRule::valid;
  std::optional<Axes> dilations = {};  ///< default 1
};

namespace detail {
/// What a window says, with every default in its place.
struct CompleteWindow {
  Axes window, strides, low, high, dilations;
};
[[nodiscard]] CompleteWindow complete_window(const char* op, const Tensor& x, const Window& window);
}  // namespace detail

/// Padding counts as 0 and 1. Integers widen as sum() does.
[[nodiscard]] Tensor window_sum(const Tensor& x, const Window& window);
[[nodiscard]] Tensor window_product(const Tensor& x, const Window& window);
/// Padding counts as the lowest and the highest.
[[nodiscard]] Tensor window_max(const Tensor& x, const Window& window);
[[nodiscard]] Tensor window_min(const Tensor& x, const Window& window);
/// The sum divided by the size of the whole window, padding included.
[[nodiscard]] Tensor window_mean(const Tensor& x, const Window& window);
/// The elements of `source` added onto `init` where each window of x has its first extreme.
[[nodiscard]] Tensor window_scatter_max(const Tensor& x, const Tensor& source,
                                        const TensorLike& init, const Window& window);
[[nodiscard]] Tensor window_scatter_min(const Tensor& x, const Tensor& source,
                                        const TensorLike& init, const Window& window);

}  // namespace stoker
