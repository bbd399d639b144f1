// User-defined kernels. Add them with System::add_kernel(). A KernelSpec defines a whole kernel; a
// CppKernelSpec is for C++ functions that it cannot describe. They are then used by name like
// built-in ones, in commands, pipelines and scripts.
#pragma once

#include "stoker/api/kernel_spec.hpp"
#include "stoker/kernels/cpp_kernel.hpp"
#include "stoker/kernels/kernel.hpp"
