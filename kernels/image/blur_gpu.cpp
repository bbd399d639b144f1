#include "stoker/kernels/image/blur_gpu.hpp"

#include <algorithm>

#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::image {
namespace {

// As in gaussian_blur/tile.glsl; the width in elements.
constexpr std::int64_t tile_width = 256;
constexpr std::int64_t tile_height = 8;

}  // namespace

BlurShaders blur_shaders(const std::string& kernel, bool sharpen) {
  const auto variants = [&](bool last) {
    auto list = rules::variants_of("T", dtypes());
    for (ShaderVariant& variant : list)
      variant.defines.push_back({"SHARPEN", sharpen && last ? "1" : "0"});
    return list;
  };
  Shader tile;
  tile.name = kernel + "_tile";
  tile.file = "gaussian_blur/tile.glsl";
  tile.bindings = {{.name = "x", .type = "T"}, {.name = "y", .type = "T", .writes = true}};
  tile.push = {{"height"},
               {"width"},
               {"channels"},
               {"radius"},
               {"border"},
               {"wide"},
               {"tiles"},
               {"tiles_x"},
               {"falloff", PushType::f32},
               {"scale", PushType::f32},
               {"strength", PushType::f32}};
  tile.variants = variants(true);

  const auto axis = [&](const char* suffix, const char* from, const char* to, bool last) {
    Shader shader;
    shader.name = kernel + suffix;
    shader.file = "gaussian_blur/axis.glsl";
    shader.bindings = {{.name = "x", .type = from},
                       {.name = "original", .type = "T"},
                       {.name = "y", .type = to, .writes = true}};
    shader.push = {{"n"},
                   {"extent"},
                   {"inner"},
                   {"channels"},
                   {"radius"},
                   {"border"},
                   {"falloff", PushType::f32},
                   {"scale", PushType::f32},
                   {"strength", PushType::f32}};
    shader.variants = variants(last);
    for (ShaderVariant& variant : shader.variants)
      variant.defines.push_back({"ROUNDS", last ? "1" : "0"});
    return std::make_shared<const Shader>(std::move(shader));
  };
  return {std::make_shared<const Shader>(std::move(tile)), axis("_down", "T", "f32", false),
          axis("_across", "f32", "T", true)};
}

Result<GpuPlan> blur_gpu_plan(std::string_view op, const BlurShaders& shaders,
                              const KernelCall& call, const Blur& blur, double strength) {
  STOKER_TRY(rules::gpu_indexable(op, call.inputs));
  const Extent image = extent(call.shape());
  const Gaussian gaussian = Gaussian::of(blur);
  const auto radius = static_cast<std::uint64_t>(gaussian.radius);
  const auto border = static_cast<std::uint64_t>(blur.border);
  const std::string variant{to_string(call.dtype())};
  // A sigma near 0 leaves the centre alone; the bound keeps falloff · k² finite in f32.
  const double falloff = std::min(0.5 / (gaussian.sigma * gaussian.sigma), 1e30);
  const double scale = 1.0 / gaussian.total();

  GpuPlan plan;
  if (gaussian.radius * image.channels <= max_tile_halo) {
    const auto tiles_x = static_cast<std::uint64_t>((image.row() + tile_width - 1) / tile_width);
    const auto tiles_y = static_cast<std::uint64_t>((image.height + tile_height - 1) / tile_height);
    PushValues push;
    push.u32(image.height).u32(image.width).u32(image.channels).u32(radius).u32(border);
    push.u32(image.row() % 4 == 0 ? 1 : 0).u32(tiles_x * tiles_y).u32(tiles_x);
    push.f32(falloff).f32(scale).f32(strength);
    plan.passes.push_back({shaders.tile.get(),
                           variant,
                           {input(0), output()},
                           push,
                           linear_groups(tiles_x * tiles_y)});
    return plan;
  }
  const auto elements = static_cast<std::uint64_t>(image.elements());
  const auto push = [&](std::int64_t extent, std::int64_t inner) {
    PushValues values;
    values.u32(elements).u32(extent).u32(inner).u32(image.channels).u32(radius).u32(border);
    return values.f32(falloff).f32(scale).f32(strength);
  };
  const auto groups = linear_groups_for(elements, shaders.down->local_size[0]);
  plan.scratch_bytes = {elements * sizeof(float)};
  plan.passes.push_back({shaders.down.get(),
                         variant,
                         {input(0), input(0), scratch(0)},
                         push(image.height, image.row()),
                         groups});
  plan.passes.push_back({shaders.across.get(),
                         variant,
                         {scratch(0), input(0), output()},
                         push(image.width, image.channels),
                         groups});
  return plan;
}

}  // namespace stoker::image
