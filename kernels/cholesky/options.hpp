// cholesky as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

using Cholesky = PlainKernel<"cholesky">;

using CholeskyKernels = KernelTypes<Cholesky>;

}  // namespace stoker::kernels
