// resize and bicubic_scale as types (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/image/filter.hpp"
#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

using image::Filter;

template <class O, class V> void visit_resize(O& o, V&& visit) {
  constexpr double far = 1 << 30;
  visit("width", o.width, within(0, far),
        "columns of the result; 0: in proportion to height, or unchanged if height is 0, too");
  visit("height", o.height, within(0, far),
        "rows of the result; 0: in proportion to width, or unchanged if width is 0, too");
  visit("mode", o.mode,
        one_of<Filter>({{"nearest", Filter::nearest},
                        {"bilinear", Filter::bilinear},
                        {"bicubic", Filter::bicubic}}),
        "how values between pixels are computed");
  visit("antialias", o.antialias, anything,
        "widens the filter by the factor by which an axis shrinks; nearest ignores it. The layer "
        "resize does so unless told not to");
}

/// Antialiased if asked, as in OpenCV and ONNX, whose programs expect to find the plain filter here. The layer of this
/// name is antialiased unless asked otherwise (api/nn/layers/resize.hpp).
struct Resize {
  static constexpr KernelName kind{"resize"};
  std::int64_t width = 0;
  std::int64_t height = 0;
  Filter mode = Filter::bilinear;
  bool antialias = false;
};
template <class V> void visit_options(Resize& o, V&& visit) { visit_resize(o, visit); }

/// Resize with another default mode.
struct BicubicScale {
  static constexpr KernelName kind{"bicubic_scale"};
  std::int64_t width = 0;
  std::int64_t height = 0;
  Filter mode = Filter::bicubic;
  bool antialias = false;
};
template <class V> void visit_options(BicubicScale& o, V&& visit) { visit_resize(o, visit); }

using ResizeKernels = KernelTypes<Resize, BicubicScale>;

}  // namespace stoker::kernels
