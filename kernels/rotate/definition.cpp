#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/one_pass.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rotate/options.hpp"
#include "stoker/kernels/rotate/turn.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::rotate {
namespace {

Result<std::vector<TensorSpec>> infer(const KernelCall& call) {
  STOKER_TRY(image::check("rotate", call.inputs[0]));
  STOKER_ASSIGN(const Turn all, turn(call));
  const std::int64_t extents[] = {all.out.height, all.out.width, all.out.channels};
  STOKER_ASSIGN(const Shape shape, Shape::try_make(extents, "rotate"));
  return std::vector<TensorSpec>{{call.dtype(), shape}};
}

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = "rotate";
  shader.file = "rotate/rotate.glsl";
  shader.bindings = {{.name = "x", .type = "T"}, {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"pixels"},
                 {"channels"},
                 {"height_in"},
                 {"width_in"},
                 {"width_out"},
                 {"takes_nearest"},
                 {"x_start", PushType::u32, 2},
                 {"y_start", PushType::u32, 2},
                 {"cosine", PushType::s32},
                 {"sine", PushType::s32},
                 {"background", PushType::f32}};
  shader.variants = rules::variants_of("T", image::dtypes());
  return std::make_shared<const Shader>(std::move(shader));
}

/// 64 bits as two words, the low one first.
void push_words(PushValues& push, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  push.u32(bits & 0xffff'ffffU).u32(bits >> 32);
}

Result<GpuPlan> gpu_plan(const Shader& shader, const KernelCall& call, const TensorSpec& result) {
  STOKER_TRY(rules::gpu_indexable("rotate", call.inputs));
  STOKER_TRY(rules::gpu_indexable("rotate", {&result, 1}));
  STOKER_ASSIGN(const Turn all, turn(call));
  const auto pixels = static_cast<std::uint64_t>(all.out.height * all.out.width);
  PushValues push;
  push.u32(pixels).u32(all.in.channels).u32(all.in.height).u32(all.in.width);
  push.u32(all.out.width).u32(all.nearest ? 1 : 0);
  push_words(push, all.x_start);
  push_words(push, all.y_start);
  push.s32(all.cosine).s32(all.sine).f32(all.background);
  return image::one_pass(shader, std::string{to_string(call.dtype())}, push, pixels);
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Rotate>();
  kernel.family = "image";
  kernel.summary =
      "the image turned about its middle; exact for multiples of 90 degrees if pixel centres fall "
      "on pixel centres, as they do with expand";
  kernel.dtypes = image::dtypes();
  kernel.infer = infer;
  rules::use_shader(kernel, make_shader(), &gpu_plan);
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::rotate
