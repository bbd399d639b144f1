// `conv2d` is how ONNX spells a part of what `conv` computes: everything but names and shapes is there.
#include "stoker/kernels/conv/gpu.hpp"
#include "stoker/kernels/conv2d/options.hpp"
#include "stoker/kernels/conv2d/problem.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::conv2d {
namespace {

Result<std::vector<TensorSpec>> infer(const KernelCall& call) {
  STOKER_ASSIGN(const conv::Problem p, describe(call));
  const std::int64_t extents[] = {p.images, call.shape(1)[0], p.down().out, p.across().out};
  STOKER_ASSIGN(const Shape shape, Shape::try_make(extents, "conv2d"));
  return std::vector{TensorSpec{call.dtype(), shape}};
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Conv2d>();
  kernel.family = "linear algebra";
  kernel.summary =
      "y[b, o, i, j] = bias[o] + sum over c, r, s of w[o, c, r, s] * x[b, c, i + r, j + s]; x is "
      "NCHW, w OIHW";
  kernel.source = "ONNX operator Conv, version 11";
  kernel.inputs = {2, 3};
  kernel.dtypes = conv::GpuShaders::dtypes();
  kernel.infer = infer;
  const conv::GpuShaders& shaders = conv::GpuShaders::shared();
  kernel.shaders = shaders.all();
  kernel.gpu = [&shaders](const KernelCall& call, std::span<const TensorSpec> outputs,
                          const GpuTraits& traits) -> Result<GpuPlan> {
    STOKER_TRY(rules::gpu_indexable("conv2d", call.inputs));
    STOKER_TRY(rules::gpu_indexable("conv2d", outputs));
    STOKER_ASSIGN(const conv::Problem p, describe(call));
    return conv::gpu_plan(shaders, "conv2d", p, call.dtype(), traits);
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::conv2d
