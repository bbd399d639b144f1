// equalize as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

using Equalize = PlainKernel<"equalize">;

using EqualizeKernels = KernelTypes<Equalize>;

}  // namespace stoker::kernels
