// What definitions of kernels with one output share: the shape rule, and the GPU version by one shader.
#pragma once

#include <functional>
#include <memory>

#include "stoker/kernels/kernel.hpp"

namespace stoker::rules {

/// `kernel` gives what `infer` says.
void use_rule(Kernel& kernel, Result<TensorSpec> (*infer)(const KernelCall& call));

/// The GPU version of a call that has the output `result`.
using Planner = std::function<Result<GpuPlan>(const Shader& shader, const KernelCall& call,
                                              const TensorSpec& result)>;
/// `kernel` runs on GPUs by this shader, as `plan` says.
void use_shader(Kernel& kernel, std::shared_ptr<const Shader> shader, Planner plan);

}  // namespace stoker::rules
