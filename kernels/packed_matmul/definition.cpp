#include "stoker/kernels/packed_matmul/options.hpp"
#include "stoker/kernels/packed_matmul/problem.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/single_output.hpp"

namespace stoker::kernels::packed_matmul {
namespace {

const DType left_dtypes[] = {DType::f32, DType::f16, DType::bf16};
const DType scale_dtypes[] = {DType::f32, DType::f16};

/// As in rows.glsl: columns of a group, and rows that read a column's numbers together.
constexpr std::int64_t group_columns = 8, group_rows = 4;
/// As in tiled.glsl: sums along each side of a tile, and terms that pass through shared memory at a time.
constexpr std::int64_t tile_side = 64, tile_depth = 16;
/// More are shared out as tiles.
constexpr std::int64_t few_rows = 8;

std::string variant_of(DType left, DType scales) {
  return std::string{to_string(left)} + "_" + std::string{to_string(scales)};
}

std::shared_ptr<const Shader> make_shader(const char* name, const char* file,
                                          std::vector<SpecConstant> constants) {
  Shader shader;
  shader.name = name;
  shader.file = file;
  shader.bindings = {{.name = "a", .type = "T"},
                     {.name = "b", .type = "u8"},
                     {.name = "scales", .type = "S"},
                     {.name = "zeros", .type = "u8"},
                     {.name = "c", .type = "T", .writes = true}};
  shader.push = {{"m"},     {"n"},          {"k"},          {"blocks"},
                 {"block"}, {"zero_bytes"}, {"zero_point"}, {"groups_n"}};
  shader.constants = std::move(constants);
  for (const DType left : left_dtypes)
    for (const DType scales : scale_dtypes)
      shader.variants.push_back(
          {.name = variant_of(left, scales), .types = {{"T", left}, {"S", scales}}});
  return std::make_shared<const Shader>(std::move(shader));
}

struct Shaders {
  std::shared_ptr<const Shader> rows, tiled;
};

Result<GpuPlan> gpu(const KernelCall& call, std::span<const TensorSpec> outputs,
                    const Shaders& shaders) {
  STOKER_TRY(rules::gpu_indexable("packed_matmul", call.inputs));
  STOKER_TRY(rules::gpu_indexable("packed_matmul", outputs));
  const Problem p = describe(call);
  if (p.n * p.padded_k() >= std::int64_t{1} << 32)
    return Error{"packed_matmul", ErrorCode::limit_exceeded,
                 "a GPU counts up to 2^32 weights, got " + std::to_string(p.n * p.padded_k())};
  const auto parts = [](std::int64_t extent, std::int64_t each) {
    return (extent + each - 1) / each;
  };
  const bool is_tiled = p.m > few_rows;
  const std::int64_t groups_n = parts(p.n, is_tiled ? tile_side : group_columns);
  const std::int64_t groups_m = parts(p.m, is_tiled ? tile_side : group_rows);
  GpuPass pass;
  pass.shader = (is_tiled ? shaders.tiled : shaders.rows).get();
  pass.variant = variant_of(call.dtype(0), call.dtype(2));
  pass.bindings = {input(0), input(1), input(2), input(p.has_zeros ? 3 : 1), output()};
  pass.push.u32(p.m).u32(p.n).u32(p.k).u32(p.blocks()).u32(p.block);
  pass.push.u32(p.zero_bytes()).u32(p.zero_point).u32(groups_n);
  pass.constants = {static_cast<std::uint32_t>(p.bits), p.has_zeros ? 1U : 0U,
                    p.k % 4 == 0 ? 1U : 0U};
  pass.groups = linear_groups(static_cast<std::uint64_t>(groups_m * groups_n));
  pass.rounds =
      static_cast<std::uint64_t>(is_tiled ? p.padded_k() / tile_depth * 4 + 64
                                          : p.column_bytes() / 128 * (group_rows + 1) * 4 + 64);
  return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<PackedMatmul>();
  kernel.family = "linear algebra";
  kernel.summary =
      "c[..., j] = sum over t of a[..., t] * (b[j, t] - zero) * scale, of unsigned integers b of "
      "2, "
      "4 or 8 bits, as u8 [columns, blocks, bytes of a block]; scales [columns, blocks] and, if "
      "given, zero points, as packed as b, are of blocks of a column";
  kernel.source = "ONNX Runtime's operator MatMulNBits";
  kernel.inputs = {3, 4};
  kernel.dtypes = {std::begin(left_dtypes), std::end(left_dtypes)};
  rules::use_rule(kernel, &infer);
  const std::vector<SpecConstant> constants{{"BITS", 4}, {"HAS_ZEROS"}, {"VECTOR"}};
  const Shaders shaders{make_shader("packed_matmul_rows", "packed_matmul/rows.glsl", constants),
                        make_shader("packed_matmul_tiled", "packed_matmul/tiled.glsl", constants)};
  kernel.shaders = {shaders.rows, shaders.tiled};
  kernel.gpu = [shaders](const KernelCall& call, std::span<const TensorSpec> outputs,
                         const GpuTraits&) { return gpu(call, outputs, shaders); };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::packed_matmul
