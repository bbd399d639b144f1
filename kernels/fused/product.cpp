#include "stoker/kernels/fused/product.hpp"

#include "stoker/kernels/fused/product_shader.hpp"
#include "stoker/kernels/fused/run_time_shader.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker {
namespace {

namespace fused = kernels::fused;
namespace matmul = kernels::matmul;

constexpr const char* kernel_name = "fused_matmul";

/// What is decided when the kernel is made.
struct Made {
  FusedProgram program;
  ParamSet of_product;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  matmul::Problem problem;
};

/// One shader for each tiling, of which the device's traits choose.
class GpuVersion {
 public:
  GpuVersion(const Made& made, std::vector<fused::ProductShader> shaders,
             const ShaderCompiler& compile)
      : problem_{made.problem}, bytes_{size_of(made.program.inputs[0].spec.dtype)} {
    for (fused::ProductShader& shader : shaders) {
      compiled_.push_back(
          std::make_unique<fused::RunTimeShader>(std::move(shader.made.shader), compile));
      ways_.push_back(std::move(shader));
    }
  }

  [[nodiscard]] std::vector<std::shared_ptr<const Shader>> shaders() const {
    std::vector<std::shared_ptr<const Shader>> all;
    for (const auto& one : compiled_) all.push_back(one->shader());
    return all;
  }

  [[nodiscard]] Result<GpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs,
                                     const GpuTraits& traits) {
    STOKER_TRY(rules::gpu_indexable(kernel_name, call.inputs));
    STOKER_TRY(rules::gpu_indexable(kernel_name, outputs));
    const std::size_t way = choose(traits);
    STOKER_TRY(compiled_[way]->compiled(kernel_name));
    GpuPass pass;
    pass.shader = compiled_[way]->shader().get();
    pass.variant = compiled_[way]->variant();
    pass.bindings = {input(problem_.swapped ? 1 : 0), input(problem_.swapped ? 0 : 1)};
    // The program's buffer 0 is the product; its others come after a and b.
    for (const std::uint32_t number : ways_[way].made.inputs)
      pass.bindings.push_back(input(number + 1));
    for (std::uint32_t o = 0; o < outputs.size(); ++o) pass.bindings.push_back(output(o));
    pass.groups = linear_groups(fused::product_groups(ways_[way], problem_));
    return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
  }

 private:
  [[nodiscard]] std::size_t choose(const GpuTraits& traits) const {
    if (!ways_[0].tiling) return 0;
    const matmul::Tiling* const wanted = &matmul::tilings[matmul::choose_tiling(
        problem_.m, problem_.n, problem_.batches, bytes_, traits)];
    for (std::size_t i = 0; i < ways_.size(); ++i)
      if (ways_[i].tiling == wanted) return i;
    return ways_.size() - 1;
  }

  const matmul::Problem problem_;
  const std::size_t bytes_;
  std::vector<fused::ProductShader> ways_;  // their shaders are moved out
  std::vector<std::unique_ptr<fused::RunTimeShader>> compiled_;
};

Result<void> check_product(const FusedProgram& program, const TensorSpec& product) {
  const auto refuse = [&](const char* why) {
    return Error{kernel_name,
                 ErrorCode::invalid_argument,
                 why,
                 {{"product", product.to_string()}, {"program", program.shape.to_string()}}};
  };
  if (program.inputs.empty() || program.inputs[0].index || program.inputs[0].spec != product)
    return refuse("input 0 of the program is not the product");
  if (product.elements() == 0 || program.shape.elements() != product.shape.elements())
    return refuse("the program has other elements than the product");
  const Strides dense = program.shape.strides();
  bool same = program.inputs[0].offset == 0;
  for (std::size_t axis = 0; axis < program.shape.rank(); ++axis)
    same = same && (program.shape[axis] == 1 || program.inputs[0].strides[axis] == dense[axis]);
  if (!same) return refuse("the program does not read the product in its order");
  if (!fused::needed_values(program)[0]) return refuse("no output needs the product");
  return {};
}

Result<std::shared_ptr<const Made>> make(FusedProgram program, const FusedProduct& product) {
  auto made = std::make_shared<Made>();
  STOKER_TRY(program.check());
  STOKER_ASSIGN(const std::shared_ptr<const Kernel> kernel,
                KernelRegistry::builtin().find("matmul"));
  STOKER_ASSIGN(made->of_product, ParamSet::resolve("matmul", kernel->params,
                                                    Params{{"transpose_a", product.transpose_a},
                                                           {"transpose_b", product.transpose_b}}));
  made->inputs = {product.a, product.b};
  STOKER_ASSIGN(const std::vector<TensorSpec> result,
                kernel->check(made->inputs, made->of_product));
  STOKER_TRY(check_product(program, result[0]));
  made->problem = matmul::describe({made->inputs, made->of_product});
  if (made->problem.k == 0)
    return Error{kernel_name, ErrorCode::invalid_argument, "a product of nothing is zeros"};
  const std::vector<TensorSpec> buffers = program.buffers();
  made->inputs.insert(made->inputs.end(), buffers.begin() + 1, buffers.end());
  const std::vector<DType> dtypes = program.dtypes();
  for (const auto output : program.outputs)
    made->outputs.push_back({dtypes[output], program.shape});
  made->program = std::move(program);
  return std::shared_ptr<const Made>{std::move(made)};
}

}  // namespace

Result<std::shared_ptr<const Kernel>> fused_product_kernel(FusedProgram program,
                                                           FusedProduct product,
                                                           ShaderCompiler compile) {
  STOKER_ASSIGN(const std::shared_ptr<const Made> made, make(std::move(program), product));
  STOKER_ASSIGN(std::vector<fused::ProductShader> shaders,
                fused::make_product_shaders(made->program, made->problem));
  const auto version = std::make_shared<GpuVersion>(*made, std::move(shaders), compile);

  auto kernel = std::make_shared<Kernel>();
  kernel->name = kernel_name;
  kernel->family = "fused";
  kernel->summary = "a product of matrices and a chain of scalar functions of its elements";
  kernel->inputs = {made->inputs.size(), made->inputs.size()};
  kernel->dtypes = {made->inputs[0].dtype};
  kernel->infer = [made](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_TRY(fused::check_inputs(kernel_name, made->inputs, call));
    return made->outputs;
  };
  kernel->cpu = [made](const KernelCall& call,
                       std::span<const TensorSpec> results) -> Result<CpuPlan> {
    const CpuPlanner planner = cpu_table().find(fused::product_planner_name);
    if (!planner)
      return Error{kernel_name,
                   ErrorCode::unsupported,
                   "this build has no CPU version of it",
                   {{"device", "cpu"}}};
    return planner(
        fused::FusedProductCall{{call.inputs, call.params}, made->program, made->of_product},
        results);
  };
  kernel->shaders = version->shaders();
  kernel->gpu = [version](const KernelCall& call, std::span<const TensorSpec> results,
                          const GpuTraits& traits) { return version->plan(call, results, traits); };
  return std::shared_ptr<const Kernel>{std::move(kernel)};
}

}  // namespace stoker
