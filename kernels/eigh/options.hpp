// eigh as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

using Eigh = PlainKernel<"eigh">;

namespace eigh {
using Kernels = KernelTypes<Eigh>;
}  // namespace eigh

}  // namespace stoker::kernels
