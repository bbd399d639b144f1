// Axis indices; negative ones count from the end.
//
// Pure functions; any thread.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "stoker/runtime/base/shape.hpp"

namespace stoker {

using Axes = std::vector<std::int64_t>;

namespace detail {
/// The axis in [0, rank). Throws invalid_parameter, with `op` as the operation.
[[nodiscard]] std::size_t checked_axis(std::string_view op, std::int64_t axis, std::size_t rank);
[[nodiscard]] inline std::size_t checked_axis(std::string_view op, std::int64_t axis,
                                              const Shape& shape) {
  return checked_axis(op, axis, shape.rank());
}
/// The axes, each once, ascending; nullopt means all. Throws invalid_parameter.
[[nodiscard]] Axes checked_axes(std::string_view op, const std::optional<Axes>& axes,
                                std::size_t rank);
}  // namespace detail

}  // namespace stoker
