// crop as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct Crop {
  static constexpr KernelName kind{"crop"};
  std::int64_t x = 0;
  std::int64_t y = 0;
  Required<std::int64_t> width = {};
  Required<std::int64_t> height = {};
};
template <class V> void visit_options(Crop& o, V&& visit) {
  constexpr double any = 1LL << 40;
  visit("x", o.x, within(0, any), "first column, in pixels");
  visit("y", o.y, within(0, any), "first row, in pixels");
  visit("width", o.width, within(1, any), "columns to keep");
  visit("height", o.height, within(1, any), "rows to keep");
}

using CropKernels = KernelTypes<Crop>;

}  // namespace stoker::kernels
