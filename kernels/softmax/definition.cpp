#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rows/row_teams.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/softmax/options.hpp"
#include "stoker/kernels/softmax/rows.hpp"

namespace stoker::kernels::softmax {
namespace {

constexpr std::int64_t group_size = 256;  // of columns.glsl
// Rounds beyond which more threads share a column, and then each takes more elements in a round: lavapipe
// leaves a shader's loops after 65,535 rounds.
constexpr std::int64_t most_rounds = 4096;

struct Shaders {
  rows::RowShaders rows;
  std::shared_ptr<const Shader> columns;
};

Shaders make_shaders() {
  Shader rows;
  rows.name = "softmax_rows";
  rows.file = "softmax/rows.glsl";
  rows.bindings = {{.name = "x", .type = "T"}, {.name = "y", .type = "T", .writes = true}};
  rows.push = {{"rows"}, {"length"}};
  rows.variants = rules::variants_of("T", {DType::f32, DType::f16, DType::bf16});

  Shader columns = rows;
  columns.name = "softmax_columns";
  columns.file = "softmax/columns.glsl";
  columns.push = {{"columns"}, {"length"}, {"inner"}};
  columns.constants = {{"row_lanes", 8}, {"unit", 1}};
  return {rows::row_shaders(std::move(rows)), std::make_shared<const Shader>(std::move(columns))};
}

GpuPass rows_pass(const rows::RowShaders& shaders, const Rows& rows, const GpuTraits& traits) {
  GpuPass pass = rows::row_pass(shaders, rows.outer, rows.length, traits);
  pass.push.u32(static_cast<std::uint64_t>(rows.outer))
      .u32(static_cast<std::uint64_t>(rows.length));
  return pass;
}

GpuPass columns_pass(const Shader& shader, const Rows& rows) {
  const std::int64_t columns = rows.outer * rows.inner;
  std::int64_t row_lanes = rows.length > 16 ? 8 : 1;
  while (rows.length / row_lanes > most_rounds && row_lanes < group_size) row_lanes *= 2;
  const std::uint32_t unit = rows.length / row_lanes > most_rounds ? 8 : 1;
  const std::int64_t per_group = group_size / row_lanes;
  GpuPass pass;
  pass.shader = &shader;
  for (const std::int64_t value : {columns, rows.length, rows.inner})
    pass.push.u32(static_cast<std::uint64_t>(value));
  pass.groups = linear_groups(static_cast<std::uint64_t>((columns + per_group - 1) / per_group));
  pass.constants = {static_cast<std::uint32_t>(row_lanes), unit};
  pass.rounds = 2 * (static_cast<std::uint64_t>(rows.length / row_lanes) / unit + 1) + 8;
  return pass;
}

Result<GpuPlan> plan(const Shaders& shaders, const KernelCall& call, const GpuTraits& traits) {
  if (call.dtype() == DType::f64)
    return Error{"softmax",
                 ErrorCode::unsupported,
                 "GPUs have no f64 exponential; the CPU device computes this",
                 {{"dtype", "f64"}}};
  STOKER_TRY(rules::gpu_indexable("softmax", call.inputs));
  STOKER_ASSIGN(const Rows rows, rows_of(call));
  GpuPass pass = rows.inner == 1 ? rows_pass(shaders.rows, rows, traits)
                                 : columns_pass(*shaders.columns, rows);
  pass.variant = to_string(call.dtype());
  pass.bindings = {input(0), output()};
  return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Softmax>();
  kernel.family = "normalization";
  kernel.summary = "y = e^(x - m) / Σ e^(x - m) along an axis, where m is its largest element";
  kernel.dtypes = rules::float_dtypes();
  kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_TRY(rows_of(call));
    return std::vector{call.inputs[0]};
  };
  const Shaders shaders = make_shaders();
  kernel.shaders = {shaders.rows.shuffling, shaders.rows.plain, shaders.columns};
  kernel.gpu = [shaders](const KernelCall& call, std::span<const TensorSpec>,
                         const GpuTraits& traits) { return plan(shaders, call, traits); };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::softmax
