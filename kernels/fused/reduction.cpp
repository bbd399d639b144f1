#include "stoker/kernels/fused/reduction.hpp"

#include <algorithm>

#include "stoker/kernels/fused/reduction_shader.hpp"
#include "stoker/kernels/fused/run_time_shader.hpp"
#include "stoker/kernels/instruction_set.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker {
namespace {

namespace fused = kernels::fused;
namespace reduce = kernels::reduce;
using Operation = FusedReduction::Operation;

std::string name_of(Operation operation) {
  const auto entry =
      std::ranges::find(reduce::operations, operation, &reduce::OperationName::operation);
  return "fused_" + std::string{entry->kernel};
}

/// The shader, and those of kernels/reduce for what it leaves.
class GpuVersion {
 public:
  GpuVersion(FusedReduction reduction, reduce::Steps steps, DType dtype,
             fused::ReductionShader first, ShaderCompiler compile)
      : reduction_{std::move(reduction)},
        steps_{std::move(steps)},
        dtype_{dtype},
        shader_{std::move(first.made.shader), std::move(compile)},
        inputs_{std::move(first.made.inputs)},
        words_{std::move(first.made.words)},
        four_{first.made.unit == 4},
        last_{first.last} {}

  [[nodiscard]] std::vector<std::shared_ptr<const Shader>> shaders() const {
    return {shader_.shader(), rest().rows, rest().columns, rest().narrow};
  }

  [[nodiscard]] Result<GpuPlan> plan(const KernelCall& call, const TensorSpec& result) {
    const std::string name = name_of(reduction_.operation);
    STOKER_TRY(rules::gpu_indexable(name, call.inputs));
    STOKER_TRY(rules::gpu_indexable(name, std::array{TensorSpec{dtype_, reduction_.shape}}));
    STOKER_TRY(shader_.compiled(name));
    const DType partial = reduce::partial_dtype(reduction_.operation, dtype_);
    const reduce::Step& step = steps_.steps[0];
    reduce::Planned planned =
        reduce::plan_step(*shader_.shader(), reduction_.operation, step, four_);
    GpuPlan plan;
    PassBinding target = output();
    if (!last_) {
      target = scratch(0);
      plan.scratch_bytes.push_back(
          static_cast<std::size_t>(step.outer * planned.pieces * step.inner) * size_of(partial));
    }
    GpuPass& pass = planned.pass;
    pass.variant = shader_.variant();
    pass.push.u32(static_cast<std::uint64_t>(divisor())).u32s(words_);
    for (const std::uint32_t number : inputs_) pass.bindings.push_back(input(number));
    pass.bindings.push_back(target);
    plan.passes.push_back(std::move(pass));
    if (last_) return plan;
    std::vector<reduce::Step> left{steps_.steps.begin() + (planned.pieces == 1 ? 1 : 0),
                                   steps_.steps.end()};
    if (planned.pieces > 1) left[0].reduced = planned.pieces;
    reduce::add_passes(plan, reduction_.operation, rest(), {target, partial}, left, partial,
                       result.dtype, steps_.count);
    return plan;
  }

 private:
  /// The shaders of kernels/reduce.
  static const reduce::Shaders& rest() {
    static constinit NeverDestroyed<reduce::Shaders> shaders;
    return shaders.get(&reduce::make_shaders);
  }

  [[nodiscard]] std::int64_t divisor() const {
    return last_ && reduction_.operation == Operation::mean ? steps_.count : 1;
  }

  const FusedReduction reduction_;
  const reduce::Steps steps_;
  const DType dtype_;
  fused::RunTimeShader shader_;
  const std::vector<std::uint32_t> inputs_;
  const std::vector<std::uint32_t> words_;
  const bool four_;
  const bool last_;  // nothing comes after the shader
};

Result<void> check(const FusedProgram& program, const FusedReduction& reduction) {
  const std::string name = name_of(reduction.operation);
  STOKER_TRY(program.check());
  if (program.outputs.size() != 1)
    return Error{name,
                 ErrorCode::invalid_argument,
                 "a program that is reduced has one output",
                 {{"outputs", std::to_string(program.outputs.size())}}};
  if (program.shape.elements() != reduction.shape.elements())
    return Error{
        name,
        ErrorCode::shape_mismatch,
        "the program has other elements than are reduced",
        {{"program", program.shape.to_string()}, {"reduced", reduction.shape.to_string()}}};
  return {};
}

}  // namespace

Result<TensorSpec> FusedReduction::result(DType dtype) const {
  const std::string name = name_of(operation);
  if (reduced.size() != shape.rank())
    return Error{name,
                 ErrorCode::invalid_argument,
                 "it must be said of each axis whether it is reduced",
                 {{"shape", shape.to_string()}, {"axes", std::to_string(reduced.size())}}};
  const bool needs_one = operation == Operation::max || operation == Operation::min;
  if (needs_one && dtype == DType::boolean)
    return Error{name,
                 ErrorCode::dtype_mismatch,
                 "bool has no order",
                 {{"expected", "a numeric dtype"}, {"got", "bool"}}};
  std::vector<std::int64_t> extents;
  for (std::size_t axis = 0; axis < reduced.size(); ++axis) {
    if (reduced[axis] && shape[axis] == 0 && needs_one)
      return Error{name,
                   ErrorCode::shape_mismatch,
                   "axis " + std::to_string(axis) + " has no elements to choose from",
                   {{"axis", std::to_string(axis)}, {"input", shape.to_string()}}};
    if (!reduced[axis])
      extents.push_back(shape[axis]);
    else if (keepdims)
      extents.push_back(1);
  }
  STOKER_ASSIGN(const Shape kept, Shape::try_make(extents, name));
  return TensorSpec{reduce::result_dtype(operation, dtype), kept};
}

Result<std::shared_ptr<const Kernel>> fused_reduction_kernel(FusedProgram given,
                                                             FusedReduction reduction,
                                                             ShaderCompiler compile) {
  STOKER_TRY(check(given, reduction));
  const auto program = std::make_shared<const FusedProgram>(std::move(given));
  const DType dtype = program->dtypes()[program->outputs[0]];
  STOKER_ASSIGN(const TensorSpec result, reduction.result(dtype));
  const std::vector<TensorSpec> buffers = program->buffers();
  const reduce::Steps steps = reduce::steps(reduction.shape, reduction.reduced);

  auto kernel = std::make_shared<Kernel>();
  kernel->name = name_of(reduction.operation);
  kernel->family = "fused";
  kernel->summary =
      "a chain of scalar functions over strided inputs, and what it comes to over axes";
  kernel->inputs = {buffers.size(), buffers.size()};
  if (!buffers.empty()) kernel->dtypes = {buffers[0].dtype};
  kernel->infer = [name = kernel->name, buffers,
                   result](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_TRY(fused::check_inputs(name, buffers, call));
    return std::vector{result};
  };
  kernel->cpu = [name = kernel->name, program, reduction](
                    const KernelCall& call,
                    std::span<const TensorSpec> results) -> Result<CpuPlan> {
    const CpuPlanner* const planner = cpu_table().find(fused::reduction_planner_name);
    if (!planner) return no_cpu_version(name);
    return (*planner)(fused::FusedReductionCall{{call.inputs, call.params}, *program, reduction},
                      results);
  };
  auto shader = fused::make_reduction_shader(
      *program, steps, reduce::partial_dtype(reduction.operation, dtype), result.dtype);
  if (shader.has_error()) {
    kernel->gpu = [why = shader.error()](const KernelCall&, std::span<const TensorSpec>,
                                         const GpuTraits&) -> Result<GpuPlan> { return why; };
  } else {
    const auto version = std::make_shared<GpuVersion>(std::move(reduction), steps, dtype,
                                                      std::move(*shader), std::move(compile));
    kernel->shaders = version->shaders();
    kernel->gpu = [version](const KernelCall& call, std::span<const TensorSpec> results,
                            const GpuTraits&) { return version->plan(call, results[0]); };
  }
  return std::shared_ptr<const Kernel>{std::move(kernel)};
}

}  // namespace stoker
