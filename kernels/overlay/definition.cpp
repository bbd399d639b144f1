#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/one_pass.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/overlay/options.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::overlay {
namespace {

Result<std::vector<TensorSpec>> infer(const KernelCall& call) {
  STOKER_ASSIGN(const image::Extent base, image::check("overlay", call.inputs[0], "base"));
  if (call.inputs.size() == 1) return std::vector{call.inputs[0]};
  if (call.dtype(0) != call.dtype(1))
    return rules::dtypes_differ("overlay", call.inputs[0], call.inputs[1]);
  STOKER_ASSIGN(const image::Extent over, image::check("overlay", call.inputs[1], "over"));
  if (base.colours() != over.colours())
    return Error{"overlay",
                 ErrorCode::shape_mismatch,
                 "one picture is grey and the other in colours: base " + call.shape(0).to_string() +
                     ", over " + call.shape(1).to_string(),
                 {{"base", call.inputs[0].to_string()}, {"over", call.inputs[1].to_string()}}};
  return std::vector{call.inputs[0]};
}

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = "overlay";
  shader.file = "overlay/overlay.glsl";
  shader.bindings = {{.name = "base", .type = "T"},
                     {.name = "over", .type = "T"},
                     {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"n"},
                 {"width"},
                 {"channels"},
                 {"over_height"},
                 {"over_width"},
                 {"over_channels"},
                 {"left", PushType::s32},
                 {"top", PushType::s32},
                 {"opacity", PushType::f32}};
  shader.variants = rules::variants_of("T", image::dtypes());
  return std::make_shared<const Shader>(std::move(shader));
}

Result<GpuPlan> gpu_plan(const Shader& shader, const KernelCall& call, const TensorSpec&) {
  STOKER_TRY(rules::gpu_indexable("overlay", call.inputs));
  const image::Extent base = image::extent(call.shape(0));
  const bool alone = call.inputs.size() == 1;
  const image::Extent over =
      alone ? image::Extent{0, 0, base.channels} : image::extent(call.shape(1));
  PushValues push;
  push.u32(base.elements()).u32(base.width).u32(base.channels);
  push.u32(over.height).u32(over.width).u32(over.channels);
  const auto given = options::from<Overlay>(call.params);
  push.s32(given.x).s32(given.y).f32(given.alpha);

  GpuPlan plan;
  const auto quads = static_cast<std::uint64_t>(base.elements() + 3) / 4;
  plan.passes.push_back({&shader,
                         std::string{to_string(call.dtype())},
                         {input(0), input(alone ? 0 : 1), output()},
                         push,
                         linear_groups_for(quads, shader.local_size[0])});
  return plan;
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Overlay>();
  kernel.aliases = {"overlay_alpha"};
  kernel.family = "image";
  kernel.summary =
      "input 1 drawn over input 0, with its upper left corner at (x, y); parts outside of input 0 "
      "are clipped; alpha is straight, not premultiplied; a single input is copied";
  kernel.source = "T. Porter, T. Duff, Compositing Digital Images (1984): over";
  kernel.inputs = {1, 2};
  kernel.dtypes = image::dtypes();
  kernel.infer = infer;
  rules::use_shader(kernel, make_shader(), &gpu_plan);
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::overlay
