// The shaders of elementwise kernels. The scalar functions of a group are one shader, in which the spec
// constant `operation` picks one: a driver compiles that one only.
//
// Threads: any; immutable once made.
#pragma once

#include <memory>

#include "stoker/kernels/elementwise/functions.hpp"
#include "stoker/kernels/shader/gpu_plan.hpp"

namespace stoker::kernels::elementwise {

/// Whether GPUs have the function for the dtype.
[[nodiscard]] bool on_gpus(const ScalarFunction& function, DType dtype);

struct Shaders {
  Group group;
  std::shared_ptr<const Shader> flat;
  std::shared_ptr<const Shader> strided;  ///< null for one operand, which lies like the output
};

[[nodiscard]] Shaders make_shaders(const Group& group);

/// The plan of `function`, which is of the shaders' group. unsupported: a function that GPUs do not have for
/// the dtype; limit_exceeded: an output beyond 32 bits. `op` names the kernel.
[[nodiscard]] Result<GpuPlan> plan(std::string_view op, const ScalarFunction& function,
                                   const Shaders& shaders, const KernelCall& call,
                                   const TensorSpec& result);

}  // namespace stoker::kernels::elementwise
