#include "stoker/kernels/grayscale/options.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::grayscale {
namespace {

Result<std::vector<TensorSpec>> infer(const KernelCall& call) {
  STOKER_TRY(image::check("grayscale", call.inputs[0]));
  TensorSpec output = call.inputs[0];
  if (!options::from<Grayscale>(call.params).keep_channels) output.shape = output.shape.with(2, 1);
  return std::vector{output};
}

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = "grayscale";
  shader.file = "grayscale/grayscale.glsl";
  shader.bindings = {{.name = "x", .type = "T"}, {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"pixels"}, {"channels"}, {"channels_out"}};
  shader.variants = rules::variants_of("T", image::dtypes());
  return std::make_shared<const Shader>(std::move(shader));
}

Result<GpuPlan> gpu_plan(const Shader& shader, const KernelCall& call, const TensorSpec& result) {
  STOKER_TRY(rules::gpu_indexable("grayscale", call.inputs));
  const image::Extent image = image::extent(call.shape());
  const auto pixels = static_cast<std::uint64_t>(image.height * image.width);
  PushValues push;
  push.u32(pixels).u32(image.channels).u32(result.shape[2]);
  GpuPlan plan;
  plan.passes.push_back({&shader,
                         std::string{to_string(call.dtype())},
                         {input(0), output()},
                         push,
                         linear_groups_for((pixels + 3) / 4, shader.local_size[0])});
  return plan;
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Grayscale>();
  kernel.family = "image";
  kernel.summary =
      "y = 0.299 R + 0.587 G + 0.114 B in one channel; a grey image is copied, alpha dropped";
  kernel.source = "ITU-R BT.601 luma, on values as stored";
  kernel.dtypes = image::dtypes();
  kernel.infer = infer;
  const std::shared_ptr<const Shader> shader = make_shader();
  kernel.shaders = {shader};
  kernel.gpu = [shader](const KernelCall& call, std::span<const TensorSpec> outputs,
                        const GpuTraits&) { return gpu_plan(*shader, call, outputs[0]); };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::grayscale
