#include "stoker/kernels/brightness_contrast/options.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/one_pass.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::brightness_contrast {
namespace {

// Groups of four elements that a thread computes; as in brightness_contrast.glsl.
constexpr std::uint64_t quads_per_thread = 4;

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = "brightness_contrast";
  shader.file = "brightness_contrast/brightness_contrast.glsl";
  shader.bindings = {{.name = "x", .type = "T"}, {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"n"}, {"alpha"}, {"factor", PushType::f32}, {"offset", PushType::f32}};
  shader.variants = rules::variants_of("T", image::dtypes());
  return std::make_shared<const Shader>(std::move(shader));
}

Result<GpuPlan> gpu_plan(const Shader& shader, const KernelCall& call, const TensorSpec&) {
  STOKER_TRY(rules::gpu_indexable("brightness_contrast", call.inputs));
  const std::uint64_t elements = call.inputs[0].elements();
  const auto given = options::from<BrightnessContrast>(call.params);
  const double white = call.dtype() == DType::u8 ? 255.0 : 1.0;
  PushValues push;
  push.u32(elements).u32(image::extent(call.shape()).has_alpha() ? 1 : 0);
  push.f32(given.contrast).f32(white * (0.5 - 0.5 * given.contrast + given.brightness));

  const std::uint64_t each = 4 * quads_per_thread;
  return image::one_pass(shader, std::string{to_string(call.dtype())}, push,
                         (elements + each - 1) / each);
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<BrightnessContrast>();
  kernel.family = "image";
  kernel.summary =
      "y = (x - 0.5) contrast + 0.5 + brightness on colours, in units of full white; alpha is kept";
  kernel.dtypes = image::dtypes();
  kernel.in_place = true;
  image::keep_shape(kernel);
  rules::use_shader(kernel, make_shader(), &gpu_plan);
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::brightness_contrast
