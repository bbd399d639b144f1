// roi_max_pool as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct RoiMaxPool {
  static constexpr KernelName kind{"roi_max_pool"};
  std::int64_t height = 1;
  std::int64_t width = 1;
  double scale = 1;
};
template <class V> void visit_options(RoiMaxPool& o, V&& visit) {
  constexpr double most = (1 << 16) - 1;
  visit("height", o.height, within(1, most), "rows of bins in each box");
  visit("width", o.width, within(1, most), "columns of bins in each box");
  visit("scale", o.scale, anything, "pixels for each unit of the boxes");
}

using RoiMaxPoolKernels = KernelTypes<RoiMaxPool>;

}  // namespace stoker::kernels
