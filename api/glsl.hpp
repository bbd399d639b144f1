// The compiler of GLSL texts, for whoever wants one of his own (component Stoker::glsl). A kernel does not
// need it: KernelSpec::glsl takes the text.
#pragma once

#include "stoker/kernels/glsl/compiler.hpp"
#include "stoker/kernels/glsl_text.hpp"
