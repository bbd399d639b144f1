// A byte-for-byte copy, for every kernel that has nothing else to do in some of its cases.
#pragma once

#include <memory>
#include <string_view>

#include "stoker/kernels/shader/gpu_plan.hpp"

namespace stoker::kernels::copy {

/// The shader "copy"; kernels that plan with gpu_plan() list it among theirs.
[[nodiscard]] std::shared_ptr<const Shader> shader();

/// Copies input 0 to output 0, which both are `tensor`. `op` names the kernel in errors.
[[nodiscard]] Result<GpuPlan> gpu_plan(std::string_view op, const Shader& shader,
                                       const TensorSpec& tensor);

}  // namespace stoker::kernels::copy
