// copy as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

using Copy = PlainKernel<"copy">;

namespace copy {
using Kernels = KernelTypes<Copy>;
}  // namespace copy

}  // namespace stoker::kernels
