#include "stoker/kernels/single_output.hpp"

#include <utility>

namespace stoker::rules {

void use_rule(Kernel& kernel, Result<TensorSpec> (*infer)(const KernelCall& call)) {
  kernel.infer = [infer](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_ASSIGN(const TensorSpec spec, infer(call));
    return std::vector{spec};
  };
}

void use_shader(Kernel& kernel, std::shared_ptr<const Shader> shader, Planner plan) {
  kernel.shaders = {shader};
  kernel.gpu = [shader = std::move(shader), plan = std::move(plan)](
                   const KernelCall& call, std::span<const TensorSpec> outputs, const GpuTraits&) {
    return plan(*shader, call, outputs[0]);
  };
}

}  // namespace stoker::rules
