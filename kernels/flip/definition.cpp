#include "stoker/kernels/flip/options.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/one_pass.hpp"
#include "stoker/kernels/image/units.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::flip {
namespace {

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = "flip";
  shader.file = "flip/flip.glsl";
  shader.bindings = {{.name = "x", .type = "T"}, {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"n"}, {"height"}, {"row"}, {"pixel"}, {"mirrors"}, {"turns"}, {"wide"}};
  shader.variants = rules::variants_of("T", image::unit_dtypes());
  return std::make_shared<const Shader>(std::move(shader));
}

Result<GpuPlan> gpu_plan(const Shader& shader, const KernelCall& call, const TensorSpec&) {
  const image::Extent image = image::extent(call.shape());
  const FlipAxis axis = options::from<Flip>(call.params).axis;
  const bool mirrors = axis != FlipAxis::vertical;
  const std::uint64_t row = static_cast<std::uint64_t>(image.row()) * size_of(call.dtype());
  // What keeps its inner order: a pixel, or a whole row.
  const std::uint64_t pixel =
      mirrors ? static_cast<std::uint64_t>(image.channels) * size_of(call.dtype()) : row;
  const image::Unit unit = image::widest_unit({row, pixel});
  STOKER_TRY(image::check_units("flip", call.inputs[0], unit));

  PushValues push;
  const std::uint64_t units = call.inputs[0].bytes() / unit.bytes;
  push.u32(units).u32(image.height).u32(row / unit.bytes).u32(pixel / unit.bytes);
  push.u32(mirrors ? 1 : 0).u32(axis != FlipAxis::horizontal ? 1 : 0).u32(unit.quads ? 1 : 0);
  return image::one_pass(shader, std::string{to_string(unit.dtype)}, push, (units + 3) / 4);
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Flip>();
  kernel.family = "image";
  kernel.summary = "the image mirrored: left becomes right, top becomes bottom, or both";
  kernel.dtypes = rules::all_dtypes();
  image::keep_shape(kernel);
  rules::use_shader(kernel, make_shader(), &gpu_plan);
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::flip
