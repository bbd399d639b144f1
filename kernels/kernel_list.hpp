// The kernel folders CMake found; kernel_list.cpp is generated into the build tree.
#pragma once

#include "stoker/kernels/kernel.hpp"

namespace stoker::kernels {

/// Calls every folder's define(); the first failure, with the folder in its details.
[[nodiscard]] Result<void> define_all(KernelRegistry& registry);

}  // namespace stoker::kernels
