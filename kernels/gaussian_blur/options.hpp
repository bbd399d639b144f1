// gaussian_blur as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/image/gaussian.hpp"
#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct GaussianBlur {
  static constexpr KernelName kind{"gaussian_blur"};
  std::int64_t radius = 1;
  double sigma = 0;
  Border border = Border::replicate;
};
template <class V> void visit_options(GaussianBlur& o, V&& visit) { image::visit_blur(o, visit); }

using GaussianBlurKernels = KernelTypes<GaussianBlur>;

}  // namespace stoker::kernels
