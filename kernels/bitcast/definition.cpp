#include "stoker/kernels/bitcast/options.hpp"
#include "stoker/kernels/copy/copy.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::bitcast {
namespace {

Result<std::vector<TensorSpec>> infer(const KernelCall& call) {
  const DType from = call.dtype();
  const DType to = options::from<Bitcast>(call.params).dtype;
  const auto refused = [&](std::string_view why) {
    const std::string was{to_string(from)};
    const std::string asked{to_string(to)};
    return Error{"bitcast",
                 ErrorCode::dtype_mismatch,
                 "cannot read " + was + " as " + asked + ": " + std::string{why},
                 {{"from", was}, {"to", asked}}};
  };
  if (size_of(from) != size_of(to))
    return refused("elements of " + std::to_string(size_of(from)) + " bytes, not " +
                   std::to_string(size_of(to)));
  if (to == DType::boolean && from != to) return refused("a bool is 0 or 1, not any byte");
  return std::vector{TensorSpec{to, call.shape()}};
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Bitcast>();
  kernel.family = "memory";
  kernel.summary = "the bits of x read as another dtype of the same size; every bit is kept";
  kernel.dtypes = rules::all_dtypes();
  kernel.infer = &infer;
  const std::shared_ptr<const Shader> shader = copy::shader();
  kernel.shaders = {shader};
  // As integers: a float that is loaded and stored may lose what its NaN says.
  kernel.gpu = [shader](const KernelCall& call, std::span<const TensorSpec>, const GpuTraits&) {
    return copy::gpu_plan("bitcast", *shader, call.inputs[0]);
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::bitcast
