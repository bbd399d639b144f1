#include "stoker/kernels/grayscale/options.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/one_pass.hpp"
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
  return image::one_pass(shader, std::string{to_string(call.dtype())}, push, (pixels + 3) / 4);
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Grayscale>();
  kernel.family = "image";
  kernel.summary =
      "y = 0.299 R + 0.587 G + 0.114 B in one channel; a grey image is copied; alpha is dropped";
  kernel.source = "ITU-R BT.601 luma, on values as stored";
  kernel.dtypes = image::dtypes();
  kernel.infer = infer;
  rules::use_shader(kernel, make_shader(), &gpu_plan);
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::grayscale
