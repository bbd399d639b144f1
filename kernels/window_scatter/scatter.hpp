// A call of this family, with neighbouring axes that no window moves along merged into one.
//
// Both versions work in two steps without atomic additions: first each window finds the place of its
// extreme, then each element adds the sources of the windows that chose it, in row-major order of
// the windows. Results are therefore the same however the work is divided.
#pragma once

#include <string_view>
#include <vector>

#include "stoker/kernels/window_reduce/geometry.hpp"

namespace stoker::kernels::window_scatter {

/// The axes of x as the call's options window them. Errors as window_axes().
[[nodiscard]] Result<std::vector<window_reduce::WindowAxis>> windowed_axes(std::string_view op,
                                                                           const KernelCall& call);

/// Those axes, merged, outermost first. Errors as windowed_axes(); shape_mismatch where `source` is
/// not as the windows or `init` has more than one element, dtype_mismatch where their dtypes differ
/// from that of x.
[[nodiscard]] Result<std::vector<window_reduce::WindowAxis>> scatter_axes(std::string_view op,
                                                                          const KernelCall& call);

}  // namespace stoker::kernels::window_scatter
