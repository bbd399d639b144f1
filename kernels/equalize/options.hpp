// equalize as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

using Equalize = PlainKernel<"equalize">;

namespace equalize {
using Kernels = KernelTypes<Equalize>;
}  // namespace equalize

}  // namespace stoker::kernels
