#include "stoker/kernels/copy/copy.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::bitcast {
namespace {

Result<std::vector<TensorSpec>> infer(const KernelCall& call) {
  const DType from = call.dtype();
  const DType to = parse_dtype(call.params.text("dtype")).value_or(from);
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
  Kernel kernel;
  kernel.name = "bitcast";
  kernel.family = "memory";
  kernel.summary = "the bits of x as those of another dtype of its size, every one of them";
  std::vector<std::string> names;
  for (const DType dtype : rules::all_dtypes()) names.emplace_back(to_string(dtype));
  kernel.params = {{.name = "dtype",
                    .type = ParamType::text,
                    .fallback = std::nullopt,
                    .doc = "dtype of the output",
                    .choices = std::move(names)}};
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
