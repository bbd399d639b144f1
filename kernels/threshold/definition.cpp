#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/one_pass.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/threshold/levels.hpp"

namespace stoker::kernels::threshold {
namespace {

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = "threshold";
  shader.file = "threshold/threshold.glsl";
  shader.bindings = {{.name = "x", .type = "T"}, {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"n"},
                 {"alpha"},
                 {"keeps_above"},
                 {"keeps_below"},
                 {"cut", PushType::f32},
                 {"above", PushType::f32},
                 {"below", PushType::f32}};
  shader.variants = rules::variants_of("T", image::dtypes());
  return std::make_shared<const Shader>(std::move(shader));
}

Result<GpuPlan> gpu_plan(const Shader& shader, const KernelCall& call, const TensorSpec&) {
  STOKER_TRY(rules::gpu_indexable("threshold", call.inputs));
  const image::Extent image = image::extent(call.shape());
  const Levels all = levels(call);
  const auto n = static_cast<std::uint64_t>(image.elements());
  PushValues push;
  push.u32(n).u32(image.has_alpha() ? 1 : 0);
  push.u32(all.keeps_above ? 1 : 0).u32(all.keeps_below ? 1 : 0);
  push.f32(all.cut).f32(all.above).f32(all.below);
  return image::one_pass(shader, std::string{to_string(call.dtype())}, push, (n + 3) / 4);
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Threshold>();
  kernel.family = "image";
  kernel.summary =
      "each colour is compared with a value, in units of full white, and becomes one of two "
      "levels, or is limited to the value, or becomes 0; alpha is kept";
  kernel.source = "modes: OpenCV 4.6, threshold";
  kernel.dtypes = image::dtypes();
  kernel.in_place = true;
  image::keep_shape(kernel);
  rules::use_shader(kernel, make_shader(), &gpu_plan);
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::threshold
