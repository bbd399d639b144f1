#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/one_pass.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/sobel/options.hpp"

namespace stoker::kernels::sobel {
namespace {

// As in tile.glsl; the width in elements.
constexpr std::int64_t tile_width = 248;
constexpr std::int64_t tile_height = 8;

std::shared_ptr<const Shader> tile_shader() {
  Shader shader;
  shader.name = "sobel_tile";
  shader.file = "sobel/tile.glsl";
  shader.bindings = {{.name = "x", .type = "T"}, {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"height"}, {"width"},   {"channels"},
                 {"border"}, {"axis"},    {"wide"},
                 {"tiles"},  {"tiles_x"}, {"scale", PushType::f32}};
  shader.variants = rules::variants_of("T", image::dtypes());
  return std::make_shared<const Shader>(std::move(shader));
}

Result<GpuPlan> gpu_plan(const Shader& shader, const KernelCall& call, const TensorSpec&) {
  STOKER_TRY(rules::gpu_indexable("sobel", call.inputs));
  const image::Extent image = image::extent(call.shape());
  const auto tiles_x = static_cast<std::uint64_t>((image.row() + tile_width - 1) / tile_width);
  const auto tiles_y = static_cast<std::uint64_t>((image.height + tile_height - 1) / tile_height);
  const auto given = options::from<Sobel>(call.params);
  PushValues push;
  push.u32(image.height).u32(image.width).u32(image.channels);
  push.u32(static_cast<std::uint64_t>(given.border));
  push.u32(static_cast<std::uint64_t>(given.output));
  push.u32(image.row() % 4 == 0 ? 1 : 0).u32(tiles_x * tiles_y).u32(tiles_x);
  push.f32(given.scale);

  GpuPlan plan;
  plan.passes.push_back({&shader,
                         std::string{to_string(call.dtype())},
                         {input(0), output()},
                         push,
                         linear_groups(tiles_x * tiles_y)});
  return plan;
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Sobel>();
  kernel.family = "image";
  kernel.summary =
      "gradient of every colour channel with the 3x3 Sobel masks: y = scale sqrt(gx^2 + gy^2), or "
      "one of "
      "gx and gy; alpha is kept";
  kernel.source = "I. Sobel, An Isotropic 3x3 Image Gradient Operator (1968)";
  kernel.dtypes = image::dtypes();
  image::keep_shape(kernel);
  rules::use_shader(kernel, tile_shader(), &gpu_plan);
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::sobel
