#include "stoker/kernels/image/border.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::sobel {
namespace {

// As in tile.glsl; the width in elements.
constexpr std::int64_t tile_width = 256;
constexpr std::int64_t tile_height = 4;

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

Result<GpuPlan> gpu_plan(const Shader& shader, const KernelCall& call) {
  STOKER_TRY(rules::gpu_indexable("sobel", call.inputs));
  const image::Extent image = image::extent(call.shape());
  const auto tiles_x = static_cast<std::uint64_t>((image.row() + tile_width - 1) / tile_width);
  const auto tiles_y = static_cast<std::uint64_t>((image.height + tile_height - 1) / tile_height);
  const std::string& output_name = call.params.text("output");
  PushValues push;
  push.u32(image.height).u32(image.width).u32(image.channels);
  push.u32(static_cast<std::uint64_t>(image::parse_border(call.params.text("border"))));
  push.u32(output_name == "x" ? 1 : output_name == "y" ? 2 : 0);
  push.u32(image.row() % 4 == 0 ? 1 : 0).u32(tiles_x * tiles_y).u32(tiles_x);
  push.f32(call.params.real("scale"));

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
  Kernel kernel;
  kernel.name = "sobel";
  kernel.family = "image";
  kernel.summary =
      "gradient of every colour channel with the 3x3 Sobel masks: y = scale sqrt(gx^2 + gy^2), or "
      "one of "
      "gx and gy; alpha is kept";
  kernel.source = "I. Sobel, An Isotropic 3x3 Image Gradient Operator (1968)";
  kernel.params = {
      {.name = "output",
       .type = ParamType::text,
       .fallback = ParamValue{std::string{"magnitude"}},
       .doc = "the magnitude, or the derivative to the right (x) or downwards (y); u8 cuts "
              "negative derivatives to 0",
       .choices = {"magnitude", "x", "y"}},
      {.name = "scale",
       .type = ParamType::real,
       .fallback = ParamValue{1.0},
       .doc = "factor on the result; 0.25 maps the full range of x or y to itself",
       .min = -1e6,
       .max = 1e6},
      image::border_param()};
  kernel.dtypes = image::dtypes();
  kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_TRY(image::check("sobel", call.inputs[0]));
    return std::vector{call.inputs[0]};
  };
  const std::shared_ptr<const Shader> shader = tile_shader();
  kernel.shaders = {shader};
  kernel.gpu = [shader](const KernelCall& call, std::span<const TensorSpec>, const GpuTraits&) {
    return gpu_plan(*shader, call);
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::sobel
