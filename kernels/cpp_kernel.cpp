#include "stoker/kernels/cpp_kernel.hpp"

#include <algorithm>

#include "stoker/kernels/kernel_rules.hpp"

namespace stoker {

void CppCall::check(const char* kind, std::span<const TensorSpec> specs, std::size_t i,
                    DType dtype) {
  const std::string which = std::string{kind} + " " + std::to_string(i);
  if (i >= specs.size())
    throw Error{"cpp_kernel",
                ErrorCode::arity_mismatch,
                "there is no " + which,
                {{"count", std::to_string(specs.size())}}};
  if (specs[i].dtype != dtype)
    throw Error{"cpp_kernel", ErrorCode::dtype_mismatch,
                which + " is " + std::string{to_string(specs[i].dtype)} + ", read as " +
                    std::string{to_string(dtype)}};
}

namespace {

Result<CpuPlan> plan(const std::shared_ptr<const CppKernelSpec>& spec, const KernelCall& call,
                     std::span<const TensorSpec> outputs) {
  const std::size_t elements = outputs.empty() ? 0 : outputs[0].elements();
  CpuStage stage;
  stage.slices = spec->grain == 0 ? 1 : slice_count(elements, spec->grain);
  // The plan outlives this call, so it keeps its own copies of what the call refers to.
  stage.run = [spec, elements, slices = stage.slices, params = call.params,
               ins = std::vector<TensorSpec>{call.inputs.begin(), call.inputs.end()},
               outs = std::vector<TensorSpec>{outputs.begin(), outputs.end()}](
                  const CpuArgs& args, std::uint32_t index) {
    const SliceRange range = slice_range(elements, slices, index);
    try {
      spec->run(CppCall{ins, outs, params, args}, range.begin, range.end);
    } catch (const Error& error) {
      throw error.with("kernel", spec->name);
    }
  };
  CpuPlan plan;
  plan.cost_ns = spec->ns_per_element * static_cast<double>(elements);
  plan.stages.push_back(std::move(stage));
  return plan;
}

}  // namespace

Result<void> check_shaped_alike(std::string_view kernel, const KernelCall& call) {
  for (std::size_t i = 1; i < call.inputs.size(); ++i)
    if (call.shape(i) != call.shape())
      return Error{std::string{kernel},
                   ErrorCode::shape_mismatch,
                   "input " + std::to_string(i) + " is " + call.shape(i).to_string() +
                       ", expected the shape of input 0, " + call.shape().to_string() +
                       ": a kernel whose inputs differ has a rule of its own for shapes",
                   {{"input", std::to_string(i)},
                    {"expected", call.shape().to_string()},
                    {"got", call.shape(i).to_string()}}};
  return {};
}

Kernel cpp_kernel(CppKernelSpec spec) { return try_cpp_kernel(std::move(spec)).value(); }

Result<Kernel> try_cpp_kernel(CppKernelSpec given) {
  if (!given.run)
    return Error{given.name.empty() ? "cpp_kernel" : given.name, ErrorCode::invalid_argument,
                 "incomplete definition: run is missing"};
  if (!given.infer && given.inputs.min == 0)
    return Error{given.name, ErrorCode::invalid_argument,
                 "incomplete definition: without inputs, infer must say how large the output is"};
  const auto spec = std::make_shared<const CppKernelSpec>(std::move(given));
  Kernel kernel;
  kernel.name = spec->name;
  kernel.family = "user";
  kernel.summary = spec->summary;
  kernel.params = spec->params;
  kernel.inputs = spec->inputs;
  kernel.dtypes = spec->dtypes;
  kernel.infer = spec->infer;
  if (!kernel.infer)
    kernel.infer = [spec](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
      STOKER_TRY(check_shaped_alike(spec->name, call));
      return std::vector<TensorSpec>{call.inputs[0]};
    };
  kernel.cpu = [spec](const KernelCall& call, std::span<const TensorSpec> outputs) {
    return plan(spec, call, outputs);
  };
  STOKER_TRY(check_definition(kernel));
  return kernel;
}

}  // namespace stoker
