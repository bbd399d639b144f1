#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/matmul/options.hpp"
#include "stoker/kernels/matmul/problem.hpp"
#include "stoker/kernels/matmul/tiling.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::kernels::matmul {
namespace {

const std::vector<DType>& dtypes() {
  static constinit NeverDestroyed<std::vector<DType>> all;
  return all.get([] {
    return std::vector{DType::f32, DType::f64, DType::f16, DType::bf16,
                       DType::s32, DType::s64, DType::u32};
  });
}

/// What parts of a sum are kept in.
DType part_dtype(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
}

std::string part_variant(DType dtype) {
  return std::string{to_string(dtype)} + (part_dtype(dtype) == dtype ? "" : "_parts");
}

std::vector<ShaderBinding> shader_bindings() {
  return {{.name = "a", .type = "T"},
          {.name = "b", .type = "T"},
          {.name = "c", .type = "C", .writes = true}};
}

void add_variants(Shader& shader, DType dtype,
                  const std::vector<std::pair<std::string, std::string>>& defines) {
  const auto add = [&](const std::string& name, DType to) {
    shader.variants.push_back(
        {.name = name, .types = {{"T", dtype}, {"C", to}}, .defines = defines});
  };
  add(std::string{to_string(dtype)}, dtype);
  if (part_dtype(dtype) != dtype) add(part_variant(dtype), part_dtype(dtype));
}

/// The fields of a shader of products: its own, then those that push_batches() pushes.
std::vector<PushField> with_batches(std::vector<PushField> own) {
  const PushField shared[] = {{"batches"},
                              {"parts"},
                              {"part_k"},
                              {"extents", PushType::u32, 6},
                              {"a_steps", PushType::u32, 6},
                              {"b_steps", PushType::u32, 6}};
  own.insert(own.end(), std::begin(shared), std::end(shared));
  return own;
}

std::shared_ptr<const Shader> tiled_shader(const Tiling& tiling) {
  Shader shader = tiled(tiling, "matmul");
  shader.bindings = shader_bindings();
  shader.push = with_batches({{"m"}, {"n"}, {"k"}, {"tiles_m"}, {"tiles_n"}});
  shader.constants = {{"TRANSPOSE_A"}, {"TRANSPOSE_B"}, {"VECTOR_A"}, {"VECTOR_B"}, {"VECTOR_C"}};
  for (const DType dtype : dtypes()) {
    if (fits(tiling, size_of(dtype))) add_variants(shader, dtype, tiling_defines(tiling));
  }
  return std::make_shared<const Shader>(std::move(shader));
}

/// A row times a matrix; `dots`: the matrix is stored transposed.
std::shared_ptr<const Shader> row_shader(bool dots) {
  Shader shader;
  shader.name = dots ? "matmul_row_dots" : "matmul_row_sums";
  shader.file = "matmul/row.glsl";
  shader.bindings = shader_bindings();
  shader.push = with_batches({{"n"}, {"k"}, {"groups"}});
  shader.constants = {{"VECTOR"}};
  std::vector<std::pair<std::string, std::string>> defines;
  if (dots) defines.emplace_back("DOTS", "1");
  for (const DType dtype : dtypes()) add_variants(shader, dtype, defines);
  return std::make_shared<const Shader>(std::move(shader));
}

std::shared_ptr<const Shader> sums_shader() {
  Shader shader;
  shader.name = "matmul_sums";
  shader.file = "matmul/sums.glsl";
  shader.bindings = {{.name = "x", .type = "P"}, {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"elements"}, {"parts"}};
  for (const DType dtype : dtypes())
    shader.variants.push_back(
        {.name = std::string{to_string(dtype)}, .types = {{"P", part_dtype(dtype)}, {"T", dtype}}});
  return std::make_shared<const Shader>(std::move(shader));
}

struct Shaders {
  std::vector<std::shared_ptr<const Shader>> tiled;  ///< for each of tilings
  std::shared_ptr<const Shader> row_dots;
  std::shared_ptr<const Shader> row_sums;
  std::shared_ptr<const Shader> sums;
};

/// How k is shared, by groups of their own.
struct Parts {
  std::int64_t count = 1;
  std::int64_t k = 1;

  /// A long sum of few elements: one group would take long, and lavapipe leaves a shader's loops after 65,535
  /// rounds, of which each takes at least 8 of k.
  static Parts of(const Problem& p) noexcept {
    constexpr std::int64_t few = std::int64_t{1} << 20;
    if (p.k <= longest_sum || p.batches * p.m * p.n > few) return {1, p.k};
    return {(p.k + longest_sum - 1) / longest_sum, longest_sum};
  }
};

void push_batches(PushValues& values, const Problem& p, const Parts& parts) {
  values.u32(p.batches)
      .u32(parts.count)
      .u32(parts.k)
      .u32s(p.batch_axes.extents(), 6, 1)
      .u32s(std::span{p.a_steps}.first(p.batch_axes.rank()), 6)
      .u32s(std::span{p.b_steps}.first(p.batch_axes.rank()), 6);
}

std::vector<PassBinding> bindings(const Problem& p, const Parts& parts) {
  return {input(p.swapped ? 1 : 0), input(p.swapped ? 0 : 1),
          parts.count > 1 ? scratch(0) : output()};
}

GpuPass row_pass(const Problem& p, const Parts& parts, const Shaders& shaders) {
  // Must match the shaders: columns of C that one group computes.
  const std::int64_t columns = p.transpose_b ? 8 : 64;
  const std::int64_t groups = (p.n + columns - 1) / columns;
  GpuPass pass;
  pass.shader = (p.transpose_b ? shaders.row_dots : shaders.row_sums).get();
  pass.bindings = bindings(p, parts);
  pass.push.u32(p.n).u32(p.k).u32(groups);
  push_batches(pass.push, p, parts);
  pass.groups = linear_groups(static_cast<std::uint64_t>(groups * p.batches * parts.count));
  pass.constants = {(p.transpose_b ? p.k : p.n) % 4 == 0 ? 1U : 0U};
  pass.rounds = row_rounds(parts.k);
  return pass;
}

GpuPass tiled_pass(const Problem& p, const Parts& parts, DType dtype, const Shaders& shaders,
                   const GpuTraits& traits) {
  const std::size_t which = choose_tiling(extents_of(p, size_of(dtype)), traits);
  const Tiling& tiling = tilings[which];
  const std::int64_t tiles_m = (p.m + tiling.rows - 1) / tiling.rows;
  const std::int64_t tiles_n = (p.n + tiling.columns - 1) / tiling.columns;
  GpuPass pass;
  pass.shader = shaders.tiled[which].get();
  pass.bindings = bindings(p, parts);
  pass.push.u32(p.m).u32(p.n).u32(p.k).u32(tiles_m).u32(tiles_n);
  push_batches(pass.push, p, parts);
  pass.groups =
      linear_groups(static_cast<std::uint64_t>(tiles_m * tiles_n * p.batches * parts.count));
  const auto fours = [](std::int64_t extent) { return extent % 4 == 0 ? 1U : 0U; };
  pass.constants = {p.transpose_a ? 1U : 0U, p.transpose_b ? 1U : 0U,
                    fours(p.transpose_a ? p.m : p.k), fours(p.transpose_b ? p.k : p.n), fours(p.n)};
  pass.rounds = tiling.rounds(parts.k);
  return pass;
}

Result<GpuPlan> gpu(const KernelCall& call, std::span<const TensorSpec> outputs,
                    const GpuTraits& traits, const Shaders& shaders) {
  STOKER_TRY(rules::gpu_indexable("matmul", call.inputs));
  STOKER_TRY(rules::gpu_indexable("matmul", outputs));
  const Problem p = describe(call);
  const Parts parts = Parts::of(p);
  const DType dtype = call.dtype();
  GpuPlan plan;
  plan.passes.push_back(p.m == 1 ? row_pass(p, parts, shaders)
                                 : tiled_pass(p, parts, dtype, shaders, traits));
  plan.passes.back().variant = parts.count > 1 ? part_variant(dtype) : to_string(dtype);
  if (parts.count == 1) return plan;
  const auto elements = static_cast<std::uint64_t>(p.batches * p.m * p.n);
  plan.scratch_bytes = {static_cast<std::size_t>(parts.count) * elements *
                        size_of(part_dtype(dtype))};
  GpuPass sums;
  sums.shader = shaders.sums.get();
  sums.variant = to_string(dtype);
  sums.bindings = {scratch(0), output()};
  sums.push.u32(elements).u32(static_cast<std::uint64_t>(parts.count));
  sums.groups = linear_groups_for(elements, shaders.sums->local_size[0]);
  sums.rounds = static_cast<std::uint64_t>(parts.count);
  plan.passes.push_back(std::move(sums));
  return plan;
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  Shaders shaders;
  for (const Tiling& tiling : tilings) shaders.tiled.push_back(tiled_shader(tiling));
  shaders.row_dots = row_shader(true);
  shaders.row_sums = row_shader(false);
  shaders.sums = sums_shader();

  auto kernel = kernel_of<Matmul>();
  kernel.family = "linear algebra";
  kernel.summary =
      "c[..., i, j] = sum over t of a[..., i, t] * b[..., t, j]; leading axes broadcast; vectors "
      "are treated as in NumPy";
  kernel.source = "numpy.matmul; tiles after Goto and van de Geijn, ACM TOMS 34(3), 2008";
  kernel.inputs = {2, 2};
  kernel.dtypes = dtypes();
  kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_ASSIGN(TensorSpec spec, infer(call));
    return std::vector{spec};
  };
  kernel.shaders = shaders.tiled;
  kernel.shaders.push_back(shaders.row_dots);
  kernel.shaders.push_back(shaders.row_sums);
  kernel.shaders.push_back(shaders.sums);
  kernel.gpu = [shaders = std::move(shaders)](
                   const KernelCall& call, std::span<const TensorSpec> outputs,
                   const GpuTraits& traits) { return gpu(call, outputs, traits, shaders); };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::matmul
