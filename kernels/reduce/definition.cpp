#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/reduce/gpu.hpp"
#include "stoker/kernels/reduce/steps.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::reduce {
namespace {

Result<std::vector<TensorSpec>> infer(const std::string& name, Operation operation,
                                      const KernelCall& call) {
  STOKER_ASSIGN(const std::vector<bool> reduced, reduced_axes(name, call));
  const bool keeps = options::from<ReduceSum>(call.params).keepdims;
  const bool needs_one = operation == Operation::max || operation == Operation::min;
  std::vector<std::int64_t> extents;
  for (std::size_t axis = 0; axis < reduced.size(); ++axis) {
    const std::int64_t extent = call.shape()[axis];
    if (reduced[axis] && extent == 0 && needs_one)
      return Error{name,
                   ErrorCode::shape_mismatch,
                   "axis " + std::to_string(axis) + " has no elements to choose from: input " +
                       call.shape().to_string(),
                   {{"axis", std::to_string(axis)}, {"input", call.shape().to_string()}}};
    if (!reduced[axis])
      extents.push_back(extent);
    else if (keeps)
      extents.push_back(1);
  }
  STOKER_ASSIGN(const Shape shape, Shape::try_make(extents, name));
  return std::vector{TensorSpec{result_dtype(operation, call.dtype()), shape}};
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  const Shaders shaders = make_shaders();
  for (const OperationName& entry : operations) {
    const std::string name{entry.kernel};
    const Operation operation = entry.operation;
    auto kernel = kernel_of<ReduceSum>();  // all have the same options
    kernel.name = name;
    kernel.family = "reduction";
    kernel.summary = entry.summary;
    kernel.dtypes = operation == Operation::max || operation == Operation::min
                        ? rules::numeric_dtypes()
                        : rules::all_dtypes();
    kernel.infer = [name, operation](const KernelCall& call) {
      return infer(name, operation, call);
    };
    kernel.shaders = {shaders.rows, shaders.columns, shaders.narrow};
    kernel.gpu = [name, operation, shaders](const KernelCall& call,
                                            std::span<const TensorSpec> outputs, const GpuTraits&) {
      return gpu_plan(name, operation, shaders, call, outputs[0]);
    };
    STOKER_TRY(registry.add(std::move(kernel)));
  }
  return {};
}

}  // namespace stoker::kernels::reduce
