// lu, determinant and solve as types (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

using Lu = PlainKernel<"lu">;
using Determinant = PlainKernel<"determinant">;
using Solve = PlainKernel<"solve">;

using LuKernels = KernelTypes<Lu, Determinant, Solve>;

}  // namespace stoker::kernels
