#include "stoker/kernels/window_reduce/geometry.hpp"

#include <string>

namespace stoker::kernels::window_reduce {
namespace {

Result<void> check_length(std::string_view op, const char* parameter, const Shape& shape,
                          std::span<const std::int64_t> list, bool optional) {
  if (list.size() == shape.rank() || (optional && list.empty())) return {};
  return Error{std::string{op},
               ErrorCode::invalid_parameter,
               std::string{parameter} + ": " + std::to_string(list.size()) +
                   " numbers for an input of rank " + std::to_string(shape.rank()),
               {{"parameter", parameter}, {"input", shape.to_string()}}};
}

/// Whether `extent` places, each `dilation` from the next, are a number that sums of may be taken.
bool within(std::int64_t extent, std::int64_t dilation) {
  constexpr std::int64_t most = std::int64_t{1} << 60;
  return dilation >= 1 && extent >= -most && extent <= most / dilation;
}

std::int64_t or_else(std::span<const std::int64_t> list, std::size_t axis, std::int64_t fallback) {
  return axis < list.size() ? list[axis] : fallback;
}

}  // namespace

Result<std::vector<WindowAxis>> window_axes(std::string_view op, const Shape& shape,
                                            const WindowParams& params) {
  STOKER_TRY(check_length(op, "window", shape, params.window, false));
  STOKER_TRY(check_length(op, "strides", shape, params.strides, true));
  STOKER_TRY(check_length(op, "padding_low", shape, params.padding_low, true));
  STOKER_TRY(check_length(op, "padding_high", shape, params.padding_high, true));
  STOKER_TRY(check_length(op, "window_dilations", shape, params.window_dilations, true));
  STOKER_TRY(check_length(op, "base_dilations", shape, params.base_dilations, true));
  std::vector<WindowAxis> axes;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    WindowAxis axis{shape[i],
                    0,
                    params.window[i],
                    or_else(params.strides, i, 1),
                    or_else(params.padding_low, i, 0),
                    or_else(params.window_dilations, i, 1),
                    or_else(params.base_dilations, i, 1)};
    const std::int64_t high = or_else(params.padding_high, i, 0);
    if (axis.stride < 1 || !within(axis.in, axis.base_dilation) ||
        !within(axis.window, axis.window_dilation) || !within(axis.low, 1) || !within(high, 1))
      return Error{
          std::string{op},
          ErrorCode::invalid_parameter,
          "axis " + std::to_string(i) +
              ": strides and dilations are 1 or more, and padding and what dilation makes of "
              "the axis and of the window is no longer than 2^60",
          {{"axis", std::to_string(i)}, {"input", shape.to_string()}}};
    const std::int64_t places =
        (axis.in > 0 ? (axis.in - 1) * axis.base_dilation + 1 : 0) + axis.low + high;
    const std::int64_t span = (axis.window - 1) * axis.window_dilation + 1;
    if (places > 0 && span > places)
      return Error{std::string{op},
                   ErrorCode::shape_mismatch,
                   "axis " + std::to_string(i) + ": a window over " + std::to_string(span) +
                       " places does not fit " + std::to_string(places) + " with padding",
                   {{"axis", std::to_string(i)},
                    {"window", std::to_string(axis.window)},
                    {"input", shape.to_string()}}};
    axis.out = places > 0 ? (places - span) / axis.stride + 1 : 0;
    axes.push_back(axis);
  }
  return axes;
}

Result<Shape> windows_shape(std::string_view op, std::span<const WindowAxis> axes) {
  std::vector<std::int64_t> extents;
  for (const WindowAxis& axis : axes) extents.push_back(axis.out);
  return Shape::try_make(extents, op);
}

std::vector<Pass> passes(std::span<const WindowAxis> axes) {
  std::vector<Pass> result;
  std::int64_t inner = 1;
  for (std::size_t i = axes.size(); i-- > 0; inner *= axes[i].out) {
    if (axes[i].trivial()) continue;
    Pass pass{1, axes[i], inner};
    for (std::size_t k = 0; k < i; ++k) pass.outer *= axes[k].in;
    result.push_back(pass);
  }
  if (result.empty()) result.push_back({1, {.in = inner, .out = inner}, 1});
  return result;
}

}  // namespace stoker::kernels::window_reduce
