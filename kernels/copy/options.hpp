// copy as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

using Copy = PlainKernel<"copy">;

using CopyKernels = KernelTypes<Copy>;

}  // namespace stoker::kernels
