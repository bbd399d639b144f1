// grayscale as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct Grayscale {
  static constexpr KernelName kind{"grayscale"};
  bool keep_channels = false;
};
template <class V> void visit_options(Grayscale& o, V&& visit) {
  visit("keep_channels", o.keep_channels, anything,
        "gives as many channels as the input has: the grey value in every colour; alpha is kept");
}

using GrayscaleKernels = KernelTypes<Grayscale>;

}  // namespace stoker::kernels
