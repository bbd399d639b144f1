#include "stoker/kernels/conv/patches.hpp"

#include "stoker/kernels/conv/gpu.hpp"
#include "stoker/kernels/matmul/tiling.hpp"

namespace stoker::kernels::conv {
namespace {

std::shared_ptr<const Shader> patches_shader(const matmul::Tiling& tiling,
                                             const std::vector<DType>& dtypes) {
  Shader shader = matmul::tiled(tiling, "conv");
  shader.bindings = {{.name = "b", .type = "T"},
                     {.name = "a", .type = "T"},
                     {.name = "bias", .type = "T"},
                     {.name = "c", .type = "T", .writes = true}};
  shader.push = {{"m"},        {"n"},           {"k"},         {"tiles_m"},  {"tiles_n"},
                 {"batches"},  {"in_channels"}, {"in_h"},      {"in_w"},     {"out_channels"},
                 {"out_h"},    {"out_w"},       {"stride_h"},  {"stride_w"}, {"pad_top"},
                 {"pad_left"}, {"dilation_h"},  {"dilation_w"}};
  shader.constants = {{"KERNEL_H", 1}, {"KERNEL_W", 1}, {"POINTWISE"},
                      {"VECTOR_A"},    {"VECTOR_C"},    {"HAS_BIAS"}};
  for (const DType dtype : dtypes) {
    if (!matmul::fits(tiling, size_of(dtype))) continue;
    auto defines = matmul::tiling_defines(tiling);
    defines.emplace_back("CONVOLUTION", "1");
    shader.variants.push_back({.name = std::string{to_string(dtype)},
                               .types = {{"T", dtype}},
                               .defines = std::move(defines)});
  }
  return std::make_shared<const Shader>(std::move(shader));
}

}  // namespace

std::vector<std::shared_ptr<const Shader>> patches_shaders(const std::vector<DType>& dtypes) {
  std::vector<std::shared_ptr<const Shader>> all;
  for (const matmul::Tiling& tiling : matmul::tilings)
    if (tiling.slices == 1) all.push_back(patches_shader(tiling, dtypes));
  return all;
}

bool suits_patches(const Problem& p) noexcept {
  if (p.rank > 2 || p.flipped || p.batch_groups) return false;
  const Axis h = p.down(), w = p.across();
  if (h.spread != 1 || w.spread != 1) return false;
  struct Step {
    std::int64_t extent, step;
  };
  const auto dense = [](std::initializer_list<Step> axes) {  // the innermost first
    std::int64_t next = 1;
    for (const auto& [extent, step] : axes) {
      if (extent > 1 && step != next) return false;
      next *= extent;
    }
    return true;
  };
  return dense({{w.in, w.x_step},
                {h.in, h.x_step},
                {p.channels, p.x_channel},
                {p.groups, p.x_group},
                {p.images, p.x_image}}) &&
         dense({{w.taps, w.k_step},
                {h.taps, h.k_step},
                {p.channels, p.k_channel},
                {p.outputs, p.k_output},
                {p.groups, p.k_group}}) &&
         dense({{w.out, w.y_step},
                {h.out, h.y_step},
                {p.outputs, p.y_output},
                {p.groups, p.y_group},
                {p.images, p.y_image}});
}

GpuPass patches_pass(const std::vector<std::shared_ptr<const Shader>>& shaders, const Problem& p,
                     DType dtype, const GpuTraits& traits) {
  const Axis h = p.down(), w = p.across();
  const std::int64_t m = p.outputs;
  const std::int64_t n = p.images * p.pixels();
  const std::int64_t terms = p.channels * p.taps();
  const std::size_t which = matmul::choose_tiling(
      {.m = m, .n = n, .k = 0, .batches = p.groups, .element_bytes = size_of(dtype)}, traits);
  const matmul::Tiling& tiling = matmul::tilings[which];
  const std::int64_t tiles_m = (m + tiling.rows - 1) / tiling.rows;
  const std::int64_t tiles_n = (n + tiling.columns - 1) / tiling.columns;
  GpuPass pass;
  pass.shader = shaders[which].get();
  pass.variant = to_string(dtype);
  pass.bindings = operands(p);
  pass.push.u32(m).u32(n).u32(terms).u32(tiles_m).u32(tiles_n).u32(p.groups);
  pass.push.u32(p.groups * p.channels).u32(h.in).u32(w.in);
  pass.push.u32(p.groups * m).u32(h.out).u32(w.out);
  pass.push.u32(h.stride).u32(w.stride).u32(h.low).u32(w.low).u32(h.tap_step).u32(w.tap_step);
  pass.groups = linear_groups(static_cast<std::uint64_t>(tiles_m * tiles_n * p.groups));
  const bool fours = p.pixels() % 4 == 0;
  pass.constants = {static_cast<std::uint32_t>(h.taps),
                    static_cast<std::uint32_t>(w.taps),
                    p.pointwise() && fours ? 1U : 0U,
                    terms % 4 == 0 ? 1U : 0U,
                    fours ? 1U : 0U,
                    p.bias ? 1U : 0U};
  pass.rounds = tiling.rounds(terms);
  return pass;
}

}  // namespace stoker::kernels::conv
