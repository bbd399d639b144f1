#include "stoker/kernels/copy/copy.hpp"
#include "stoker/kernels/copy/options.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::copy {

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Copy>();
  kernel.family = "memory";
  kernel.summary = "y = x, bit for bit";
  kernel.dtypes = rules::all_dtypes();
  kernel.in_place = true;
  kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    return std::vector{call.inputs[0]};
  };
  const std::shared_ptr<const Shader> shader = copy::shader();
  kernel.shaders = {shader};
  kernel.gpu = [shader](const KernelCall& call, std::span<const TensorSpec>, const GpuTraits&) {
    return gpu_plan("copy", *shader, call.inputs[0]);
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::copy
