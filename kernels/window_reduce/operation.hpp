// The operations of this family.
#pragma once

#include <string_view>

#include "stoker/kernels/reduce/operation.hpp"
#include "stoker/kernels/window_reduce/geometry.hpp"
#include "stoker/kernels/window_reduce/options.hpp"

namespace stoker::kernels::window_reduce {

using reduce::Operation;

inline constexpr reduce::OperationName operations[] = {
    {Operation::sum, WindowSum::kind, "the sum of each window; padding counts as 0; integers wrap"},
    {Operation::product, WindowProduct::kind,
     "the product of each window; padding counts as 1; integers wrap"},
    {Operation::max, WindowMax::kind,
     "the largest element of each window, or NaN if there is one; padding counts as -inf or as the "
     "smallest integer"},
    {Operation::min, WindowMin::kind,
     "the smallest element of each window, or NaN if there is one; padding counts as +inf or as "
     "the largest integer"},
};

/// The axes of a call of this family.
[[nodiscard]] inline Result<std::vector<WindowAxis>> call_axes(std::string_view op,
                                                               const KernelCall& call) {
  const auto given = options::from<WindowSum>(call.params);  // all have the same options
  return window_axes(
      op, call.shape(),
      {given.window.list(), given.strides.list(), given.padding_low.list(),
       given.padding_high.list(), given.window_dilations.list(), given.base_dilations.list()});
}

}  // namespace stoker::kernels::window_reduce
