#include "stoker/kernels/conv/gpu.hpp"
#include "stoker/kernels/conv/options.hpp"
#include "stoker/kernels/conv/problem.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/single_output.hpp"

namespace stoker::kernels::conv {

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Conv>();
  kernel.family = "linear algebra";
  kernel.summary =
      "y[n, o, i...] = sum over c, t... of x[n, c, i * stride + t * dilation - low] * k[o, c, "
      "t...] "
      "over one to six spatial axes, in any order of axes";
  kernel.source = "XLA operation semantics, ConvGeneralDilated";
  kernel.inputs = {2, 2};
  kernel.dtypes = rules::float_dtypes();
  rules::use_rule(kernel, &infer);
  const GpuShaders& shaders = GpuShaders::shared();
  kernel.shaders = shaders.all();
  kernel.gpu = [&shaders](const KernelCall& call, std::span<const TensorSpec> outputs,
                          const GpuTraits& traits) {
    return gpu_plan(shaders, call, outputs[0], traits);
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::conv
