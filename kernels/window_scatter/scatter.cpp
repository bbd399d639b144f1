#include "stoker/kernels/window_scatter/scatter.hpp"

#include <string>

#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/window_scatter/options.hpp"

namespace stoker::kernels::window_scatter {

Result<std::vector<window_reduce::WindowAxis>> windowed_axes(std::string_view op,
                                                             const KernelCall& call) {
  const auto given = options::from<WindowScatterMax>(call.params);  // both have the same options
  return window_reduce::window_axes(op, call.shape(),
                                    {given.window.list(), given.strides.list(),
                                     given.padding_low.list(), given.padding_high.list()});
}

Result<std::vector<window_reduce::WindowAxis>> scatter_axes(std::string_view op,
                                                            const KernelCall& call) {
  for (std::size_t i = 1; i < 3; ++i)
    if (call.dtype(i) != call.dtype())
      return rules::dtypes_differ(op, call.inputs[0], call.inputs[i]);
  STOKER_ASSIGN(const std::vector<window_reduce::WindowAxis> axes, windowed_axes(op, call));
  STOKER_ASSIGN(const Shape windows, window_reduce::windows_shape(op, axes));
  if (call.shape(1) != windows)
    return Error{std::string{op},
                 ErrorCode::shape_mismatch,
                 "the source is not one element for each window: expected " + windows.to_string() +
                     ", got " + call.shape(1).to_string(),
                 {{"expected", windows.to_string()}, {"source", call.shape(1).to_string()}}};
  if (call.shape(2).elements() != 1)
    return Error{std::string{op},
                 ErrorCode::shape_mismatch,
                 "init is one element, got " + call.shape(2).to_string(),
                 {{"init", call.shape(2).to_string()}}};
  std::vector<window_reduce::WindowAxis> merged;
  for (const window_reduce::WindowAxis& axis : axes) {
    if (axis.trivial() && axis.in == 1) continue;
    if (axis.trivial() && !merged.empty() && merged.back().trivial()) {
      merged.back().in *= axis.in;
      merged.back().out *= axis.out;
    } else {
      merged.push_back(axis);
    }
  }
  if (merged.empty()) merged.emplace_back();
  return merged;
}

}  // namespace stoker::kernels::window_scatter
