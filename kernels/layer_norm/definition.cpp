#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/layer_norm/options.hpp"
#include "stoker/kernels/layer_norm/rows.hpp"
#include "stoker/kernels/rows/row_teams.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::layer_norm {
namespace {

Result<std::vector<TensorSpec>> infer(const KernelCall& call) {
  STOKER_ASSIGN(const Rows rows, rows_of(call, options::from<LayerNorm>(call.params)));
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    const std::string name = i == 1 ? "gamma" : "beta";
    if (call.dtype(i) != call.dtype())
      return rules::dtypes_differ("layer_norm", call.inputs[0], call.inputs[i]);
    if (call.shape(i) != rows.normalized)
      return Error{"layer_norm",
                   ErrorCode::shape_mismatch,
                   name + " " + call.shape(i).to_string() + " is not the normalized shape " +
                       rows.normalized.to_string() + " of " + call.shape().to_string(),
                   {{name, call.shape(i).to_string()},
                    {"expected", rows.normalized.to_string()},
                    {"input", call.shape().to_string()}}};
  }
  return std::vector{call.inputs[0]};
}

rows::RowShaders make_shaders() {
  Shader shader;
  shader.name = "layer_norm_rows";
  shader.file = "layer_norm/rows.glsl";
  shader.bindings = {{.name = "x", .type = "T"},
                     {.name = "gamma", .type = "T"},
                     {.name = "beta", .type = "T"},
                     {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"rows"}, {"length"}, {"epsilon", PushType::f32}};
  shader.constants = {{"has_gamma"}, {"has_beta"}};
  shader.variants = rules::variants_of("T", {DType::f32, DType::f16, DType::bf16});
  return rows::row_shaders(std::move(shader));
}

Result<GpuPlan> plan(const rows::RowShaders& shaders, const KernelCall& call,
                     const GpuTraits& traits) {
  if (call.dtype() == DType::f64)
    return Error{"layer_norm",
                 ErrorCode::unsupported,
                 "f64 is computed on the CPU device only",
                 {{"dtype", "f64"}}};
  STOKER_TRY(rules::gpu_indexable("layer_norm", call.inputs));
  const auto given = options::from<LayerNorm>(call.params);
  STOKER_ASSIGN(const Rows rows, rows_of(call, given));
  const bool has_gamma = call.inputs.size() > 1;
  const bool has_beta = call.inputs.size() > 2;
  GpuPass pass = rows::row_pass(shaders, rows.count, rows.length, traits);
  pass.variant = to_string(call.dtype());
  // An input that is not there is not read; something must be bound all the same.
  pass.bindings = {input(0), input(has_gamma ? 1 : 0), input(has_beta ? 2 : 0), output()};
  pass.push.u32(static_cast<std::uint64_t>(rows.count))
      .u32(static_cast<std::uint64_t>(rows.length))
      .f32(given.epsilon);
  pass.constants.push_back(has_gamma);
  pass.constants.push_back(has_beta);
  return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<LayerNorm>();
  kernel.family = "normalization";
  kernel.summary =
      "y = (x - mean) / √(variance + epsilon) · gamma + beta over the axes from axis to the last; "
      "the inputs are x and, optionally, gamma and beta";
  kernel.source = "Ba, Kiros, Hinton: Layer Normalization, arXiv:1607.06450";
  kernel.inputs = {1, 3};
  kernel.dtypes = rules::float_dtypes();
  kernel.infer = infer;
  const rows::RowShaders shaders = make_shaders();
  kernel.shaders = {shaders.shuffling, shaders.plain};
  kernel.gpu = [shaders](const KernelCall& call, std::span<const TensorSpec>,
                         const GpuTraits& traits) { return plan(shaders, call, traits); };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::layer_norm
