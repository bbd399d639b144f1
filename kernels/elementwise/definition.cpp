#include <algorithm>

#include "stoker/kernels/elementwise/shaders.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::elementwise {
namespace {

/// The names that kernels had before they had the functions'.
std::vector<std::string> aliases_of(std::string_view kernel) {
  if (kernel == "add") return {"elementwise_add"};
  if (kernel == "subtract") return {"elementwise_sub", "sub"};
  if (kernel == "multiply") return {"elementwise_mul", "mul"};
  if (kernel == "elementwise_div") return {"div"};
  if (kernel == "negate") return {"neg"};
  return {};
}

std::string summary_of(const Elementwise& elementwise) {
  std::string summary{elementwise.floats->summary};
  if (elementwise.others != elementwise.floats)
    summary.append("; ").append(elementwise.others->summary);
  if (elementwise.floats->arity == 2) summary += "; shapes broadcast";
  if (takes(*elementwise.floats, DType::f64) && !on_gpus(*elementwise.floats, DType::f64))
    summary += "; f64 on the CPU only";
  return summary;
}

Result<std::vector<TensorSpec>> infer(const Elementwise& elementwise, const KernelCall& call) {
  const TensorSpec& lhs = call.inputs[0];
  const DType dtype = result_of(elementwise.function(lhs.dtype), lhs.dtype);
  if (call.inputs.size() == 1) return std::vector{TensorSpec{dtype, lhs.shape}};
  const TensorSpec& rhs = call.inputs[1];
  if (lhs.dtype != rhs.dtype) return rules::dtypes_differ(elementwise.name, lhs, rhs);
  const std::optional<Shape> shape = broadcast(lhs.shape, rhs.shape);
  if (!shape)
    return Error{std::string{elementwise.name},
                 ErrorCode::shape_mismatch,
                 "shapes do not broadcast: " + lhs.shape.to_string() + ", " + rhs.shape.to_string(),
                 {{"lhs", lhs.shape.to_string()}, {"rhs", rhs.shape.to_string()}}};
  return std::vector{TensorSpec{dtype, *shape}};
}

Kernel make_kernel(const Elementwise& elementwise, const std::shared_ptr<const Shaders>& shaders) {
  const ScalarFunction& function = *elementwise.floats;
  Kernel kernel;
  kernel.name = elementwise.name;
  kernel.aliases = aliases_of(elementwise.name);
  kernel.family = "elementwise";
  kernel.summary = summary_of(elementwise);
  kernel.inputs = {function.arity, function.arity};
  kernel.dtypes = elementwise.dtypes();
  kernel.in_place = function.result == ScalarResult::same;
  kernel.infer = [elementwise](const KernelCall& call) { return infer(elementwise, call); };
  kernel.shaders = {shaders->flat};
  if (shaders->strided) kernel.shaders.push_back(shaders->strided);
  kernel.gpu = [elementwise, shaders](const KernelCall& call, std::span<const TensorSpec> outputs,
                                      const GpuTraits&) {
    return plan(elementwise.name, elementwise.function(call.dtype()), *shaders, call, outputs[0]);
  };
  return kernel;
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  for (const Group& group : groups()) {
    const auto shaders = std::make_shared<const Shaders>(make_shaders(group));
    for (const Elementwise& elementwise : kernels_of(group))
      STOKER_TRY(registry.add(make_kernel(elementwise, shaders)));
  }
  return {};
}

}  // namespace stoker::kernels::elementwise
