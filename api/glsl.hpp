// The GLSL compiler, for programs that compile shaders themselves (component Stoker::glsl). A
// kernel does not need it: KernelSpec::glsl takes the text.
#pragma once

#include "stoker/kernels/glsl/compiler.hpp"
#include "stoker/kernels/shader/glsl_text.hpp"
