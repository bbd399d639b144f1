#include <algorithm>

#include "stoker/kernels/elementwise_unary/operation.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::elementwise_unary {
namespace {

// Groups of four elements that a thread of unary.glsl computes.
constexpr std::size_t quads_per_thread = 4;

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = "elementwise_unary";
  shader.file = "elementwise_unary/unary.glsl";
  shader.bindings = {{.name = "x", .type = "T"}, {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"n"}};
  shader.constants = {{"operation"}};
  shader.variants = rules::variants_of("T", rules::numeric_dtypes());
  return std::make_shared<const Shader>(std::move(shader));
}

bool transcendental(Operation operation) {
  return operation == Operation::sigmoid || operation == Operation::tanh ||
         operation == Operation::exp || operation == Operation::log;
}

Result<GpuPlan> plan(const std::string& name, Operation operation, const Shader& shader,
                     const TensorSpec& result) {
  if (result.dtype == DType::f64 && transcendental(operation))
    return Error{name,
                 ErrorCode::unsupported,
                 "GPUs have no f64 exponential or logarithm; the CPU device computes this",
                 {{"dtype", "f64"}}};
  STOKER_TRY(rules::gpu_indexable(name, {&result, 1}));
  const std::size_t n = result.elements();
  const std::size_t quads = (n + 3) / 4;
  GpuPass pass;
  pass.shader = &shader;
  pass.variant = to_string(result.dtype);
  pass.bindings = {input(0), output()};
  pass.push.u32(n);
  pass.groups =
      linear_groups_for((quads + quads_per_thread - 1) / quads_per_thread, shader.local_size[0]);
  pass.constants = {static_cast<std::uint32_t>(operation)};
  return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  const std::shared_ptr<const Shader> shader = make_shader();
  for (const OperationName& entry : operations) {
    const std::string name{entry.kernel};
    Kernel kernel;
    kernel.name = name;
    kernel.family = "elementwise";
    kernel.summary = entry.summary;
    kernel.dtypes = entry.integers ? rules::numeric_dtypes() : rules::float_dtypes();
    kernel.in_place = true;
    kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
      return std::vector{call.inputs[0]};
    };
    kernel.shaders = {shader};
    kernel.gpu = [name, operation = entry.operation, shader](
                     const KernelCall&, std::span<const TensorSpec> outputs, const GpuTraits&) {
      return plan(name, operation, *shader, outputs[0]);
    };
    STOKER_TRY(registry.add(std::move(kernel)));
  }
  return {};
}

}  // namespace stoker::kernels::elementwise_unary
