// eigh as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

using Eigh = PlainKernel<"eigh">;

using EighKernels = KernelTypes<Eigh>;

}  // namespace stoker::kernels
