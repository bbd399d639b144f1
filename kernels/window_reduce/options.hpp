// window_sum, window_product, window_max and window_min as types (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

/// The options that all windows have; window_scatter's do, too.
template <class O, class V> void visit_window(O& o, V&& visit) {
  constexpr double most = (1LL << 31) - 1;
  visit("window", o.window, within(1, most), "extents of the window, one for each axis");
  visit("strides", o.strides, within(1, most),
        "elements from one window to the next along each axis; empty: 1");
  visit("padding_low", o.padding_low, within(0, most),
        "neutral elements added before each axis; empty: 0");
  visit("padding_high", o.padding_high, within(0, most),
        "neutral elements added after each axis; empty: 0");
}

template <KindName Name> struct WindowReduceOf {
  static constexpr KernelName kind{Name.text};
  Required<Extents> window = {};
  Extents strides = {};
  Extents padding_low = {};
  Extents padding_high = {};
  Extents window_dilations = {};
  Extents base_dilations = {};
};
template <KindName Name, class V> void visit_options(WindowReduceOf<Name>& o, V&& visit) {
  constexpr double most = (1LL << 31) - 1;
  visit_window(o, visit);
  visit("window_dilations", o.window_dilations, within(1, most),
        "elements from one tap of a window to the next along each axis; empty: 1");
  visit(
      "base_dilations", o.base_dilations, within(1, most),
      "distance from one input element to the next, with neutral elements between them; empty: 1");
}
using WindowSum = WindowReduceOf<"window_sum">;
using WindowProduct = WindowReduceOf<"window_product">;
using WindowMax = WindowReduceOf<"window_max">;
using WindowMin = WindowReduceOf<"window_min">;

using WindowReduceKernels = KernelTypes<WindowSum, WindowProduct, WindowMax, WindowMin>;

}  // namespace stoker::kernels
