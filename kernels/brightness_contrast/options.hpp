// brightness_contrast as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct BrightnessContrast {
  static constexpr KernelName kind{"brightness_contrast"};
  double brightness = 0;
  double contrast = 1;
};
template <class V> void visit_options(BrightnessContrast& o, V&& visit) {
  visit("brightness", o.brightness, within(-100, 100), "added to every colour; 1 is full white");
  visit("contrast", o.contrast, within(-100, 100),
        "factor on the distance from middle grey; 0: all grey, below 0: inverted");
}

using BrightnessContrastKernels = KernelTypes<BrightnessContrast>;

}  // namespace stoker::kernels
