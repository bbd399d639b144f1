// The first pass of a fused reduction on a GPU: the values of a program, reduced as they are computed.
//
// The three ways of kernels/reduce (gpu.hpp) with the same push fields and spec constants, so that its
// planner plans them; what is left, its own shaders reduce.
#pragma once

#include "stoker/kernels/fused/reduction.hpp"
#include "stoker/kernels/fused/shader.hpp"
#include "stoker/kernels/reduce/gpu.hpp"

namespace stoker::kernels::fused {

struct ReductionShader {
  FusedShader made;  ///< the last binding, after those of `inputs`, is what is written
  bool last = true;  ///< it leaves the result; else partial ones, which other passes reduce
};

/// For the first of the steps. `partial` and `result` are the dtypes of what it may leave. Fails as
/// make_shader() does.
[[nodiscard]] Result<ReductionShader> make_reduction_shader(const FusedProgram& program,
                                                            const reduce::Steps& steps,
                                                            DType partial, DType result);

}  // namespace stoker::kernels::fused
