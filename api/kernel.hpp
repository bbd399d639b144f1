// Kernels of the program's own. Add them with System::add_kernel(): a KernelSpec says all of one, a
// CppKernelSpec is for C++ functions whose signature does not fit it. They are then used by name like the
// built-in ones, in commands, pipelines and scripts.
#pragma once

#include "stoker/api/kernel_spec.hpp"
#include "stoker/kernels/cpp_kernel.hpp"
#include "stoker/kernels/kernel.hpp"
