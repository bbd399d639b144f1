// Kernels of the user's own: a C++ function for the CPU (cpp_kernel), and, with the component glsl,
// a GLSL shader (api/glsl.hpp). Add them with System::add_kernel; they are then used by name like
// the built-in ones, in commands, pipelines and scripts.
#pragma once

#include "stoker/kernels/cpp_kernel.hpp"
#include "stoker/kernels/kernel.hpp"
