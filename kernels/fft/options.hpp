// fft and ifft as types (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

using Fft = PlainKernel<"fft">;
using Ifft = PlainKernel<"ifft">;

using FftKernels = KernelTypes<Fft, Ifft>;

}  // namespace stoker::kernels
