// GLSL kernels registered at run time (component Stoker::glsl); see kernels/glsl/glsl_kernel.hpp.
#pragma once

#include "stoker/kernels/glsl/glsl_kernel.hpp"
