#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/matmul/problem.hpp"
#include "stoker/kernels/matmul/tiling.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/runtime/immortal.hpp"

namespace stoker::kernels::matmul {
namespace {

const std::vector<DType>& dtypes() {
  static const Immortal<std::vector<DType>> all{[] {
    return std::vector{DType::f32, DType::f64, DType::f16, DType::bf16,
                       DType::s32, DType::s64, DType::u32};
  }};
  return *all;
}

std::shared_ptr<const Shader> tiled_shader(const Tiling& tiling) {
  Shader shader = tiled(tiling, "matmul");
  shader.bindings = {{.name = "a", .type = "T"},
                     {.name = "b", .type = "T"},
                     {.name = "c", .type = "T", .writes = true}};
  shader.push = {{"m"},
                 {"n"},
                 {"k"},
                 {"tiles_m"},
                 {"tiles_n"},
                 {"batches"},
                 {"extents", PushType::u32, 6},
                 {"a_steps", PushType::u32, 6},
                 {"b_steps", PushType::u32, 6}};
  shader.constants = {{"TRANSPOSE_A"}, {"TRANSPOSE_B"}, {"VECTOR_A"}, {"VECTOR_B"}, {"VECTOR_C"}};
  for (const DType dtype : dtypes()) {
    if (!fits(tiling, size_of(dtype))) continue;
    shader.variants.push_back({.name = std::string{to_string(dtype)},
                               .types = {{"T", dtype}},
                               .defines = tiling_defines(tiling)});
  }
  return std::make_shared<const Shader>(std::move(shader));
}

/// A row times a matrix; `dots`: the matrix is stored transposed.
std::shared_ptr<const Shader> row_shader(bool dots) {
  Shader shader;
  shader.name = dots ? "matmul_row_dots" : "matmul_row_sums";
  shader.file = dots ? "matmul/row_dots.glsl" : "matmul/row_sums.glsl";
  shader.bindings = {{.name = "a", .type = "T"},
                     {.name = "b", .type = "T"},
                     {.name = "c", .type = "T", .writes = true}};
  shader.push = {{"n"},
                 {"k"},
                 {"groups"},
                 {"batches"},
                 {"extents", PushType::u32, 6},
                 {"a_steps", PushType::u32, 6},
                 {"b_steps", PushType::u32, 6}};
  shader.constants = {{"VECTOR"}};
  shader.variants = rules::variants_of("T", dtypes());
  return std::make_shared<const Shader>(std::move(shader));
}

struct Shaders {
  std::vector<std::shared_ptr<const Shader>> tiled;  ///< for each of tilings
  std::shared_ptr<const Shader> row_dots;
  std::shared_ptr<const Shader> row_sums;
};

PushValues& push_batches(PushValues& values, const Problem& p) {
  return values.u32s(p.batch_axes.extents(), 6, 1)
      .u32s(std::span{p.a_steps}.first(p.batch_axes.rank()), 6)
      .u32s(std::span{p.b_steps}.first(p.batch_axes.rank()), 6);
}

std::vector<PassBinding> bindings(const Problem& p) {
  return {input(p.swapped ? 1 : 0), input(p.swapped ? 0 : 1), output()};
}

GpuPass row_pass(const Problem& p, const Shaders& shaders) {
  // Must match the shaders: columns of C that one group computes.
  const std::int64_t columns = p.transpose_b ? 8 : 64;
  const std::int64_t groups = (p.n + columns - 1) / columns;
  GpuPass pass;
  pass.shader = (p.transpose_b ? shaders.row_dots : shaders.row_sums).get();
  pass.bindings = bindings(p);
  pass.push.u32(p.n).u32(p.k).u32(groups).u32(p.batches);
  push_batches(pass.push, p);
  pass.groups = linear_groups(static_cast<std::uint64_t>(groups * p.batches));
  pass.constants = {(p.transpose_b ? p.k : p.n) % 4 == 0 ? 1U : 0U};
  return pass;
}

GpuPass tiled_pass(const Problem& p, DType dtype, const Shaders& shaders, const GpuTraits& traits) {
  const std::size_t which = choose_tiling(extents_of(p, size_of(dtype)), traits);
  const Tiling& tiling = tilings[which];
  const std::int64_t tiles_m = (p.m + tiling.rows - 1) / tiling.rows;
  const std::int64_t tiles_n = (p.n + tiling.columns - 1) / tiling.columns;
  GpuPass pass;
  pass.shader = shaders.tiled[which].get();
  pass.bindings = bindings(p);
  pass.push.u32(p.m).u32(p.n).u32(p.k).u32(tiles_m).u32(tiles_n).u32(p.batches);
  push_batches(pass.push, p);
  pass.groups = linear_groups(static_cast<std::uint64_t>(tiles_m * tiles_n * p.batches));
  const auto fours = [](std::int64_t extent) { return extent % 4 == 0 ? 1U : 0U; };
  pass.constants = {p.transpose_a ? 1U : 0U, p.transpose_b ? 1U : 0U,
                    fours(p.transpose_a ? p.m : p.k), fours(p.transpose_b ? p.k : p.n), fours(p.n)};
  return pass;
}

Result<GpuPlan> gpu(const KernelCall& call, std::span<const TensorSpec> outputs,
                    const GpuTraits& traits, const Shaders& shaders) {
  STOKER_TRY(rules::gpu_indexable("matmul", call.inputs));
  STOKER_TRY(rules::gpu_indexable("matmul", outputs));
  const Problem p = describe(call);
  GpuPlan plan;
  plan.passes.push_back(p.m == 1 ? row_pass(p, shaders)
                                 : tiled_pass(p, call.dtype(), shaders, traits));
  plan.passes.back().variant = to_string(call.dtype());
  return plan;
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  Shaders shaders;
  for (const Tiling& tiling : tilings) shaders.tiled.push_back(tiled_shader(tiling));
  shaders.row_dots = row_shader(true);
  shaders.row_sums = row_shader(false);

  Kernel kernel;
  kernel.name = "matmul";
  kernel.family = "linear algebra";
  kernel.summary =
      "c[..., i, j] = sum over t of a[..., i, t] * b[..., t, j]; leading axes broadcast, vectors "
      "as in NumPy";
  kernel.source = "numpy.matmul; tiles after Goto and van de Geijn, ACM TOMS 34(3), 2008";
  kernel.params = {
      {.name = "transpose_a",
       .type = ParamType::boolean,
       .fallback = false,
       .doc = "a is stored as [..., t, i]; no effect on a vector"},
      {.name = "transpose_b",
       .type = ParamType::boolean,
       .fallback = false,
       .doc = "b is stored as [..., j, t]; no effect on a vector"},
  };
  kernel.inputs = {2, 2};
  kernel.dtypes = dtypes();
  kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_ASSIGN(TensorSpec spec, infer(call));
    return std::vector{spec};
  };
  kernel.shaders = shaders.tiled;
  kernel.shaders.push_back(shaders.row_dots);
  kernel.shaders.push_back(shaders.row_sums);
  kernel.gpu = [shaders = std::move(shaders)](
                   const KernelCall& call, std::span<const TensorSpec> outputs,
                   const GpuTraits& traits) { return gpu(call, outputs, traits, shaders); };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::matmul
