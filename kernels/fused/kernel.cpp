#include <algorithm>

#include "stoker/kernels/fused/program.hpp"
#include "stoker/kernels/fused/run_time_shader.hpp"
#include "stoker/kernels/fused/schedule.hpp"
#include "stoker/kernels/fused/shader.hpp"
#include "stoker/kernels/instruction_set.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker {
namespace {

namespace fused = kernels::fused;

/// The shader and how a plan uses it.
class GpuVersion {
 public:
  GpuVersion(fused::FusedShader made, ShaderCompiler compile)
      : shader_{std::move(made.shader), std::move(compile)},
        inputs_{std::move(made.inputs)},
        words_{std::move(made.words)},
        unit_{made.unit} {}

  [[nodiscard]] std::shared_ptr<const Shader> shader() const { return shader_.shader(); }

  [[nodiscard]] Result<GpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
    STOKER_TRY(rules::gpu_indexable("fused", call.inputs));
    STOKER_TRY(rules::gpu_indexable("fused", outputs));
    STOKER_TRY(shader_.compiled("fused"));
    const std::size_t n = outputs[0].elements();
    GpuPass pass;
    pass.shader = shader().get();
    pass.variant = shader_.variant();
    for (const std::uint32_t number : inputs_) pass.bindings.push_back(input(number));
    for (std::uint32_t o = 0; o < outputs.size(); ++o) pass.bindings.push_back(output(o));
    pass.push.u32(n).u32s(words_);
    pass.groups = linear_groups_for((n + unit_ - 1) / unit_, pass.shader->local_size[0]);
    return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
  }

 private:
  fused::RunTimeShader shader_;
  const std::vector<std::uint32_t> inputs_;
  const std::vector<std::uint32_t> words_;
  const std::uint32_t unit_;
};

/// Whether the output may be the memory of input 0: each element is written after everything that
/// could lie there has been read. Another input may be the same buffer, read elsewhere.
bool in_place(const FusedProgram& program, const std::vector<TensorSpec>& buffers,
              const std::vector<TensorSpec>& outputs) {
  if (buffers.empty() || outputs.size() != 1 || buffers[0] != outputs[0]) return false;
  const Strides dense = program.shape.strides();
  return std::ranges::all_of(program.inputs, [&](const FusedProgram::Input& input) {
    if (input.index || input.spec != buffers[0]) return true;
    bool same = input.offset == 0;
    for (std::size_t axis = 0; axis < program.shape.rank(); ++axis)
      same = same && (program.shape[axis] == 1 || input.strides[axis] == dense[axis]);
    return same;
  });
}

}  // namespace

Result<std::shared_ptr<const Kernel>> fused_kernel(FusedProgram given, ShaderCompiler compile) {
  STOKER_TRY(given.check());
  const auto program = std::make_shared<const FusedProgram>(std::move(given));
  const std::vector<TensorSpec> buffers = program->buffers();
  const std::vector<DType> dtypes = program->dtypes();
  std::vector<TensorSpec> outputs;
  for (const auto output : program->outputs) outputs.push_back({dtypes[output], program->shape});

  auto kernel = std::make_shared<Kernel>();
  kernel->name = "fused";
  kernel->family = "fused";
  kernel->summary = "a chain of scalar functions over strided inputs, put together at run time";
  kernel->inputs = {buffers.size(), buffers.size()};
  if (!buffers.empty()) kernel->dtypes = {buffers[0].dtype};
  kernel->in_place = in_place(*program, buffers, outputs);
  kernel->infer = [buffers, outputs](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_TRY(fused::check_inputs("fused", buffers, call));
    return outputs;
  };
  kernel->cpu = [program](const KernelCall& call,
                          std::span<const TensorSpec> results) -> Result<CpuPlan> {
    const CpuPlanner* const planner = cpu_table().find(fused::planner_name);
    if (!planner) return no_cpu_version("fused");
    return (*planner)(fused::FusedCall{{call.inputs, call.params}, *program}, results);
  };
  auto shader = fused::make_shader(*program);
  if (shader.has_error()) {
    kernel->gpu = [why = shader.error()](const KernelCall&, std::span<const TensorSpec>,
                                         const GpuTraits&) -> Result<GpuPlan> { return why; };
  } else {
    const auto version = std::make_shared<GpuVersion>(std::move(*shader), std::move(compile));
    kernel->shaders = {version->shader()};
    kernel->gpu = [version](const KernelCall& call, std::span<const TensorSpec> results,
                            const GpuTraits&) { return version->plan(call, results); };
  }
  return std::shared_ptr<const Kernel>{std::move(kernel)};
}

}  // namespace stoker
