#include "stoker/kernels/integer_matmul/options.hpp"
#include "stoker/kernels/integer_matmul/problem.hpp"
#include "stoker/kernels/integer_matmul/tile.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/single_output.hpp"

namespace stoker::kernels::integer_matmul {
namespace {

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = "integer_matmul";
  shader.file = "integer_matmul/tiled.glsl";
  shader.bindings = {{.name = "a", .type = "A"},
                     {.name = "b", .type = "B"},
                     {.name = "a_zero", .type = "A"},
                     {.name = "b_zero", .type = "B"},
                     {.name = "c", .type = "s32", .writes = true}};
  shader.push = {{"m"},
                 {"n"},
                 {"k"},
                 {"tiles_m"},
                 {"tiles_n"},
                 {"a_zeros"},
                 {"b_zeros"},
                 {"batches"},
                 {"extents", PushType::u32, 6},
                 {"a_steps", PushType::u32, 6},
                 {"b_steps", PushType::u32, 6}};
  shader.constants = {{"TRANSPOSE_A"}, {"TRANSPOSE_B"}};
  add_mixtures(shader, "A", "B");
  return std::make_shared<const Shader>(std::move(shader));
}

Result<GpuPlan> gpu(const Shader& shader, const KernelCall& call, const TensorSpec& result) {
  STOKER_TRY(rules::gpu_indexable("integer_matmul", call.inputs));
  STOKER_TRY(rules::gpu_indexable("integer_matmul", {&result, 1}));
  const Problem problem = describe(call);
  const matmul::Problem& p = problem.product;
  const std::int64_t tiles_m = (p.m + tile_side - 1) / tile_side,
                     tiles_n = (p.n + tile_side - 1) / tile_side;
  const auto bound = [](const Side& of) {
    return input(static_cast<std::uint32_t>(of.zeros != 0 ? of.zeros_input : of.input));
  };
  GpuPass pass;
  pass.shader = &shader;
  pass.variant = mixture(problem.a.is_signed, problem.b.is_signed);
  pass.bindings = {input(static_cast<std::uint32_t>(problem.a.input)),
                   input(static_cast<std::uint32_t>(problem.b.input)), bound(problem.a),
                   bound(problem.b), output()};
  pass.push.u32(p.m).u32(p.n).u32(p.k).u32(tiles_m).u32(tiles_n);
  pass.push.u32(problem.a.zeros).u32(problem.b.zeros).u32(p.batches);
  pass.push.u32s(p.batch_axes.extents(), 6, 1)
      .u32s(std::span{p.a_steps}.first(p.batch_axes.rank()), 6)
      .u32s(std::span{p.b_steps}.first(p.batch_axes.rank()), 6);
  pass.constants = {p.transpose_a ? 1U : 0U, p.transpose_b ? 1U : 0U};
  pass.groups = linear_groups(static_cast<std::uint64_t>(tiles_m * tiles_n * p.batches));
  pass.rounds = static_cast<std::uint64_t>(p.k / tile_depth + 32);
  return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<IntegerMatmul>();
  kernel.family = "linear algebra";
  kernel.summary =
      "c[..., i, j] = sum over t of (a[..., i, t] - a_zero) * (b[..., t, j] - b_zero) in s32, of "
      "8-bit integers and their zero points: one for all, or one for each row of a or column of b, "
      "or none; shapes as matmul's";
  kernel.source = "ONNX operator MatMulInteger";
  kernel.inputs = {2, 4};
  kernel.dtypes = {DType::s8, DType::u8};
  rules::use_rule(kernel, &infer);
  rules::use_shader(kernel, make_shader(), &gpu);
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::integer_matmul
