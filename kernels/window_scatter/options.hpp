// window_scatter_max and window_scatter_min as types (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"
#include "stoker/kernels/window_reduce/options.hpp"

namespace stoker::kernels {

template <KindName Name> struct WindowScatterOf {
  static constexpr KernelName kind{Name.text};
  Required<Extents> window = {};
  Extents strides = {};
  Extents padding_low = {};
  Extents padding_high = {};
};
template <KindName Name, class V> void visit_options(WindowScatterOf<Name>& o, V&& visit) {
  visit_window(o, visit);
}
using WindowScatterMax = WindowScatterOf<"window_scatter_max">;
using WindowScatterMin = WindowScatterOf<"window_scatter_min">;

using WindowScatterKernels = KernelTypes<WindowScatterMax, WindowScatterMin>;

}  // namespace stoker::kernels
