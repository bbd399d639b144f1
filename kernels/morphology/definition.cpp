#include "stoker/kernels/image/one_pass.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/morphology/window.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::morphology {
namespace {

/// One variant for each dtype and operation: "u8_least".
std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = "morphology";
  shader.file = "morphology/morphology.glsl";
  shader.bindings = {{.name = "x", .type = "T"}, {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"n"},      {"height"}, {"width"},  {"channels"}, {"border"},
                 {"radius"}, {"down"},   {"across"}, {"disk"}};
  for (const bool most : {false, true})
    for (ShaderVariant& variant : rules::variants_of("T", image::dtypes())) {
      variant.name += most ? "_most" : "_least";
      variant.defines = {{"MOST", most ? "1" : "0"}};
      shader.variants.push_back(std::move(variant));
    }
  return std::make_shared<const Shader>(std::move(shader));
}

/// A square and a cross are lines: a square one after the other, a cross both at once.
Result<GpuPlan> gpu_plan(std::string_view op, bool most, const Shader& shader,
                         const KernelCall& call) {
  STOKER_TRY(rules::gpu_indexable(op, call.inputs));
  const image::Extent image = image::extent(call.shape());
  const Window window = Window::of(call);
  const auto n = static_cast<std::uint64_t>(image.elements());
  const auto radius = static_cast<std::uint64_t>(window.radius);
  GpuPlan plan;
  const auto add = [&](std::vector<PassBinding> bindings, bool down, bool across, bool disk) {
    PushValues push;
    push.u32(n).u32(image.height).u32(image.width).u32(image.channels);
    push.u32(static_cast<std::uint64_t>(window.border));
    push.u32(radius).u32(down ? 1 : 0).u32(across ? 1 : 0).u32(disk ? 1 : 0);
    plan.passes.push_back({&shader,
                           std::string{to_string(call.dtype())} + (most ? "_most" : "_least"),
                           std::move(bindings), push, linear_groups_for(n, shader.local_size[0])});
  };
  switch (window.shape) {
    case WindowShape::square:
      plan.scratch_bytes = {call.inputs[0].bytes()};
      add({input(0), scratch(0)}, true, false, false);
      add({scratch(0), output()}, false, true, false);
      break;
    case WindowShape::cross: add({input(0), output()}, true, true, false); break;
    case WindowShape::disk:
      add({input(0), output()}, false, false, true);
      // Each row takes a round of its own, and one more to see its end.
      plan.passes.back().rounds = (2 * radius + 1) * (2 * radius + 3) + 1;
      break;
  }
  return plan;
}

template <class K> Kernel operation(bool most, const std::shared_ptr<const Shader>& shader) {
  static constexpr std::string_view name = K::kind;
  auto kernel = kernel_of<K>();
  kernel.family = "image";
  kernel.source = "J. Serra, Image Analysis and Mathematical Morphology (1982)";
  kernel.dtypes = image::dtypes();
  image::keep_shape(kernel);
  kernel.shaders = {shader};
  kernel.gpu = [most, shader](const KernelCall& call, std::span<const TensorSpec>,
                              const GpuTraits&) { return gpu_plan(name, most, *shader, call); };
  return kernel;
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  const std::shared_ptr<const Shader> shader = make_shader();
  Kernel erode = operation<Erode>(false, shader);
  erode.summary =
      "the smallest value in a window around each pixel, for every colour channel by itself; alpha "
      "is kept";
  STOKER_TRY(registry.add(std::move(erode)));
  Kernel dilate = operation<Dilate>(true, shader);
  dilate.summary =
      "the largest value in a window around each pixel, for every colour channel by itself; alpha "
      "is kept";
  return registry.add(std::move(dilate));
}

}  // namespace stoker::kernels::morphology
