#include "stoker/kernels/concatenate/options.hpp"
#include "stoker/kernels/concatenate/parts.hpp"
#include "stoker/kernels/copy/copy.hpp"
#include "stoker/kernels/image/units.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::concatenate {
namespace {

constexpr std::size_t most_inputs = 16;

Result<std::vector<TensorSpec>> infer(const KernelCall& call) {
  STOKER_ASSIGN(const std::size_t axis, joined_axis(call));
  const Shape& first = call.shape();
  std::int64_t joined = first[axis];
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    const TensorSpec& other = call.inputs[i];
    if (other.dtype != call.dtype())
      return rules::dtypes_differ("concatenate", call.inputs[0], other);
    if (other.shape.rank() != first.rank() || other.shape.with(axis, first[axis]) != first)
      return Error{"concatenate",
                   ErrorCode::shape_mismatch,
                   "input " + std::to_string(i) + " differs from input 0 beside the axis",
                   {{"lhs", first.to_string()},
                    {"rhs", other.shape.to_string()},
                    {"axis", std::to_string(axis)}}};
    joined += other.shape[axis];
  }
  STOKER_ASSIGN(const Shape shape,
                Shape::try_make(first.with(axis, joined).extents(), "concatenate"));
  return std::vector{TensorSpec{call.dtype(), shape}};
}

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = "concatenate";
  shader.file = "concatenate/concatenate.glsl";
  shader.bindings = {{.name = "x", .type = "T"}, {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"n"}, {"row_in"}, {"row_out"}, {"start"}};
  shader.constants = {{"wide"}};
  shader.variants = rules::variants_of("T", image::unit_dtypes());
  return std::make_shared<const Shader>(std::move(shader));
}

/// A pass for each input: their bindings would not fit one.
Result<GpuPlan> plan(const Shader& shader, const Shader& copy, const KernelCall& call,
                     const TensorSpec& result) {
  if (call.inputs.size() == 1) return copy::gpu_plan("concatenate", copy, result);
  STOKER_ASSIGN(const std::size_t axis, joined_axis(call));
  const Parts all = parts(call, axis);
  GpuPlan plan;
  for (const Parts::Part& part : all.parts) {
    const image::Unit unit = image::widest_unit({part.bytes, all.row_bytes, part.start});
    STOKER_TRY(image::check_units("concatenate", result, unit));
    const std::uint64_t n = all.rows * part.bytes / unit.bytes;
    GpuPass pass;
    pass.shader = &shader;
    pass.variant = to_string(unit.dtype);
    pass.bindings = {input(static_cast<std::uint32_t>(part.input)), output()};
    pass.push.u32(n).u32(part.bytes / unit.bytes).u32(all.row_bytes / unit.bytes);
    pass.push.u32(part.start / unit.bytes);
    pass.groups = linear_groups_for((n + 3) / 4, shader.local_size[0]);
    pass.constants = {unit.quads};
    plan.passes.push_back(std::move(pass));
  }
  return plan;
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Concatenate>();
  kernel.family = "indexing";
  kernel.summary = "the inputs joined along an axis";
  kernel.inputs = {1, most_inputs};
  kernel.dtypes = rules::all_dtypes();
  kernel.infer = infer;
  const std::shared_ptr<const Shader> shader = make_shader();
  const std::shared_ptr<const Shader> copy = copy::shader();
  kernel.shaders = {shader, copy};
  kernel.gpu = [shader, copy](const KernelCall& call, std::span<const TensorSpec> outputs,
                              const GpuTraits&) { return plan(*shader, *copy, call, outputs[0]); };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::concatenate
