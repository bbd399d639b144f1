#include "stoker/kernels/conv2d/geometry.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/matmul/tiling.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::kernels::conv2d {
namespace {

const std::vector<DType>& dtypes() {
  static constinit NeverDestroyed<std::vector<DType>> all;
  return all.get([] {
    return std::vector{DType::f32, DType::f64, DType::f16, DType::bf16, DType::s32};
  });
}

std::vector<ShaderBinding> bindings() {
  return {{.name = "b", .type = "T"},
          {.name = "a", .type = "T"},
          {.name = "bias", .type = "T"},
          {.name = "c", .type = "T", .writes = true}};
}

/// A product of the weights with the input's patches.
std::shared_ptr<const Shader> tiled_shader(const matmul::Tiling& tiling) {
  Shader shader = matmul::tiled(tiling, "conv2d");
  shader.bindings = bindings();
  shader.push = {{"m"},        {"n"},           {"k"},         {"tiles_m"},  {"tiles_n"},
                 {"batches"},  {"in_channels"}, {"in_h"},      {"in_w"},     {"out_channels"},
                 {"out_h"},    {"out_w"},       {"stride_h"},  {"stride_w"}, {"pad_top"},
                 {"pad_left"}, {"dilation_h"},  {"dilation_w"}};
  shader.constants = {{"KERNEL_H", 1}, {"KERNEL_W", 1}, {"POINTWISE"},
                      {"VECTOR_A"},    {"VECTOR_C"},    {"HAS_BIAS"}};
  for (const DType dtype : dtypes()) {
    if (!matmul::fits(tiling, size_of(dtype))) continue;
    auto defines = matmul::tiling_defines(tiling);
    defines.emplace_back("CONVOLUTION", "1");
    shader.variants.push_back({.name = std::string{to_string(dtype)},
                               .types = {{"T", dtype}},
                               .defines = std::move(defines)});
  }
  return std::make_shared<const Shader>(std::move(shader));
}

/// A thread for each output; for groups too small to fill a tile.
std::shared_ptr<const Shader> direct_shader() {
  Shader shader;
  shader.name = "conv2d_direct";
  shader.file = "conv2d/direct.glsl";
  shader.bindings = bindings();
  shader.push = {{"outputs"},  {"group_channels"}, {"group_outputs"}, {"in_channels"},
                 {"in_h"},     {"in_w"},           {"out_channels"},  {"out_h"},
                 {"out_w"},    {"stride_h"},       {"stride_w"},      {"pad_top"},
                 {"pad_left"}, {"dilation_h"},     {"dilation_w"}};
  shader.constants = {{"KERNEL_H", 1}, {"KERNEL_W", 1}, {"HAS_BIAS"}};
  shader.variants = rules::variants_of("T", dtypes());
  return std::make_shared<const Shader>(std::move(shader));
}

struct Shaders {
  std::vector<std::shared_ptr<const Shader>> tiled;  ///< for each of matmul::tilings
  std::shared_ptr<const Shader> direct;
};

void push_geometry(PushValues& push, const Geometry& g) {
  push.u32(g.channels).u32(g.in_h).u32(g.in_w).u32(g.out_channels).u32(g.out_h).u32(g.out_w);
  push.u32(g.stride_h)
      .u32(g.stride_w)
      .u32(g.pad_top)
      .u32(g.pad_left)
      .u32(g.dilation_h)
      .u32(g.dilation_w);
}

GpuPass tiled_pass(const Geometry& g, DType dtype, const Shaders& shaders,
                   const GpuTraits& traits) {
  const std::int64_t m = g.group_outputs();
  const std::int64_t n = g.images * g.out_pixels();
  const std::size_t which = matmul::choose_tiling(
      {.m = m, .n = n, .k = 0, .batches = g.groups, .element_bytes = size_of(dtype)}, traits);
  const matmul::Tiling& tiling = matmul::tilings[which];
  const std::int64_t tiles_m = (m + tiling.rows - 1) / tiling.rows;
  const std::int64_t tiles_n = (n + tiling.columns - 1) / tiling.columns;
  GpuPass pass;
  pass.shader = shaders.tiled[which].get();
  pass.push.u32(m).u32(n).u32(g.taps()).u32(tiles_m).u32(tiles_n).u32(g.groups);
  push_geometry(pass.push, g);
  pass.groups = linear_groups(static_cast<std::uint64_t>(tiles_m * tiles_n * g.groups));
  const bool fours = g.out_pixels() % 4 == 0;
  const bool pointwise = g.pointwise() && g.pad_top == 0 && g.pad_left == 0 && fours;
  pass.constants = {static_cast<std::uint32_t>(g.kernel_h),
                    static_cast<std::uint32_t>(g.kernel_w),
                    pointwise ? 1U : 0U,
                    g.taps() % 4 == 0 ? 1U : 0U,
                    fours ? 1U : 0U,
                    g.bias ? 1U : 0U};
  pass.rounds = tiling.rounds(g.taps());
  return pass;
}

GpuPass direct_pass(const Geometry& g, const Shaders& shaders) {
  const std::int64_t outputs = g.images * g.out_channels * g.out_pixels();
  GpuPass pass;
  pass.shader = shaders.direct.get();
  pass.push.u32(outputs).u32(g.group_channels()).u32(g.group_outputs());
  push_geometry(pass.push, g);
  pass.groups =
      linear_groups_for(static_cast<std::uint64_t>(outputs), shaders.direct->local_size[0]);
  pass.constants = {static_cast<std::uint32_t>(g.kernel_h), static_cast<std::uint32_t>(g.kernel_w),
                    g.bias ? 1U : 0U};
  pass.rounds = g.rounds();
  return pass;
}

Result<GpuPlan> gpu(const KernelCall& call, std::span<const TensorSpec> outputs,
                    const GpuTraits& traits, const Shaders& shaders) {
  STOKER_TRY(rules::gpu_indexable("conv2d", call.inputs));
  STOKER_TRY(rules::gpu_indexable("conv2d", outputs));
  STOKER_ASSIGN(const Geometry g, describe(call));
  // Too few to fill a tile, but threads share a long sum there.
  constexpr std::int64_t few_outputs = 16;
  constexpr std::uint64_t long_sum = 32768;
  GpuPlan plan;
  plan.passes.push_back(g.group_outputs() < few_outputs && g.rounds() <= long_sum
                            ? direct_pass(g, shaders)
                            : tiled_pass(g, call.dtype(), shaders, traits));
  GpuPass& pass = plan.passes.back();
  pass.variant = to_string(call.dtype());
  // Without a bias its place is taken by the weights, which the shader then does not read there.
  pass.bindings = {input(0), input(1), input(g.bias ? 2 : 1), output()};
  return plan;
}

Result<std::vector<TensorSpec>> infer(const KernelCall& call) {
  STOKER_ASSIGN(const Geometry g, describe(call));
  const std::int64_t extents[] = {g.images, g.out_channels, g.out_h, g.out_w};
  STOKER_ASSIGN(const Shape shape, Shape::make(extents, "conv2d"));
  return std::vector{TensorSpec{call.dtype(), shape}};
}

ParamSpec list(const char* name, std::vector<std::int64_t> fallback, double min, const char* doc) {
  constexpr double most = 1 << 20;
  return {.name = name,
          .type = ParamType::integers,
          .fallback = std::move(fallback),
          .doc = doc,
          .min = min,
          .max = most};
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  Shaders shaders;
  for (const matmul::Tiling& tiling : matmul::tilings)
    if (tiling.slices == 1) shaders.tiled.push_back(tiled_shader(tiling));
  shaders.direct = direct_shader();

  Kernel kernel;
  kernel.name = "conv2d";
  kernel.family = "linear algebra";
  kernel.summary =
      "y[b, o, i, j] = bias[o] + sum over c, r, s of w[o, c, r, s] * x[b, c, i + r, j + s]; x is "
      "NCHW, w OIHW";
  kernel.source = "ONNX operator Conv, version 11";
  kernel.params = {
      list("stride", {1, 1}, 1, "pixels between outputs: [vertical, horizontal] or one for both"),
      list("padding", {0, 0, 0, 0}, 0,
           "zeros around the input: [top, left, bottom, right], [vertical, horizontal] or one for "
           "all"),
      list("dilation", {1, 1}, 1, "pixels between taps: [vertical, horizontal] or one for both"),
      {.name = "groups",
       .type = ParamType::integer,
       .fallback = std::int64_t{1},
       .doc = "independent parts that channels and outputs are divided into",
       .min = 1},
  };
  kernel.inputs = {2, 3};
  kernel.dtypes = dtypes();
  kernel.infer = infer;
  kernel.shaders = shaders.tiled;
  kernel.shaders.push_back(shaders.direct);
  kernel.gpu = [shaders = std::move(shaders)](
                   const KernelCall& call, std::span<const TensorSpec> outputs,
                   const GpuTraits& traits) { return gpu(call, outputs, traits, shaders); };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::conv2d
