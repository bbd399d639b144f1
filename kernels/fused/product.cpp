#include "stoker/kernels/fused/product.hpp"

#include "stoker/kernels/fused/layout.hpp"
#include "stoker/kernels/fused/product_gpu.hpp"
#include "stoker/kernels/instruction_set.hpp"

namespace stoker {
namespace {

namespace fused = kernels::fused;

/// A kind of product.
struct Way {
  std::string_view kernel;
  const char* name;  // of the kernel with a program
  std::string_view planner;
  Result<std::shared_ptr<fused::ProductOnGpu>> (*on_gpu)(const fused::ProductParts&,
                                                         const ShaderCompiler&);
};
constexpr Way ways[] = {
    {"matmul", "fused_matmul", fused::matmul_planner_name, &fused::matmul_on_gpu},
    {"conv", "fused_conv", fused::conv_planner_name, &fused::conv_on_gpu},
};

Result<const Way*> way_of(std::string_view kernel) {
  for (const Way& way : ways)
    if (way.kernel == kernel) return &way;
  return Error{"fused_product",
               ErrorCode::invalid_argument,
               "only matmul and conv hand their elements on",
               {{"kernel", std::string{kernel}}}};
}

Result<void> check_product(const char* name, const FusedProgram& program,
                           const TensorSpec& product) {
  const auto refuse = [&](const char* why) {
    return Error{name,
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

Result<std::shared_ptr<const fused::ProductParts>> make(const Way& way, FusedProgram program,
                                                        const FusedProduct& product) {
  auto made = std::make_shared<fused::ProductParts>();
  made->name = way.name;
  STOKER_TRY(program.check());
  STOKER_ASSIGN(const std::shared_ptr<const Kernel> kernel,
                KernelRegistry::builtin().find(way.kernel));
  STOKER_ASSIGN(made->of_product, ParamSet::resolve(way.kernel, kernel->params, product.params));
  made->inputs = {product.a, product.b};
  STOKER_ASSIGN(const std::vector<TensorSpec> result,
                kernel->check(made->inputs, made->of_product));
  made->product = result[0];
  STOKER_TRY(check_product(way.name, program, made->product));
  const std::vector<TensorSpec> buffers = program.buffers();
  made->inputs.insert(made->inputs.end(), buffers.begin() + 1, buffers.end());
  const std::vector<DType> dtypes = program.dtypes();
  for (const auto output : program.outputs)
    made->outputs.push_back({dtypes[output], program.shape});
  made->program = std::move(program);
  return std::shared_ptr<const fused::ProductParts>{std::move(made)};
}

}  // namespace

Result<std::shared_ptr<const Kernel>> fused_product_kernel(FusedProgram program,
                                                           const FusedProduct& product,
                                                           const ShaderCompiler& compile) {
  STOKER_ASSIGN(const Way* const way, way_of(product.kernel));
  STOKER_ASSIGN(const std::shared_ptr<const fused::ProductParts> made,
                make(*way, std::move(program), product));
  STOKER_ASSIGN(const std::shared_ptr<fused::ProductOnGpu> version, way->on_gpu(*made, compile));

  auto kernel = std::make_shared<Kernel>();
  kernel->name = way->name;
  kernel->family = "fused";
  kernel->summary = "a product or a convolution and a chain of scalar functions of its elements";
  kernel->inputs = {made->inputs.size(), made->inputs.size()};
  kernel->dtypes = {made->inputs[0].dtype};
  kernel->infer = [made](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_TRY(fused::check_inputs(made->name, made->inputs, call));
    return made->outputs;
  };
  kernel->cpu = [made, planner_name = way->planner](
                    const KernelCall& call,
                    std::span<const TensorSpec> results) -> Result<CpuPlan> {
    const CpuPlanner* const planner = cpu_table().find(planner_name);
    if (!planner) return no_cpu_version(made->name);
    return (*planner)(
        fused::FusedProductCall{{call.inputs, call.params}, made->program, made->of_product},
        results);
  };
  kernel->shaders = version->shaders();
  kernel->gpu = [version](const KernelCall& call, std::span<const TensorSpec> results,
                          const GpuTraits& traits) { return version->plan(call, results, traits); };
  return std::shared_ptr<const Kernel>{std::move(kernel)};
}

}  // namespace stoker
