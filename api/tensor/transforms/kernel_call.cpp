#include "stoker/api/tensor/transforms/kernel_call.hpp"

#include "stoker/api/tensor/core/values.hpp"
#include "stoker/api/tensor/transforms/custom_grad.hpp"
#include "stoker/pipeline/tensor/graph/kernel_call.hpp"

namespace stoker {
namespace {

/// The rule of one call; without one it says so when it is asked.
detail::TensorRule rule_of(const UserKernel& kernel, const Params& params,
                           const KernelCallOptions& options) {
  const auto rule =
      options.gradient ? std::make_shared<const KernelGradient>(options.gradient) : kernel.gradient;
  if (!rule || !*rule)
    return [name = kernel.name()](std::span<const Tensor>, std::span<const Tensor>,
                                  std::span<const Tensor>) -> std::vector<Tensor> {
      throw Error{name, ErrorCode::unsupported,
                  "there is no gradient of this kernel: KernelSpec and call() take a rule"};
    };
  const ParamSet resolved = ParamSet::resolve(kernel.name(), kernel.kernel->params, params).value();
  // The parameters refer to the kernel's definition.
  return [rule, resolved, kept = kernel.kernel](std::span<const Tensor> inputs,
                                                std::span<const Tensor> outputs,
                                                std::span<const Tensor> gradients) {
    return (*rule)({inputs, outputs, gradients, resolved});
  };
}

}  // namespace

void detail::check_options(const UserKernel& kernel, std::string_view kind) {
  if (kernel.name() != kind)
    throw Error{kernel.name(),
                ErrorCode::invalid_parameter,
                "the options are those of " + std::string{kind},
                {{"expected", kernel.name()}, {"got", std::string{kind}}}};
}

std::vector<Tensor> call_all(const UserKernel& kernel, std::span<const Tensor> inputs,
                             const Params& params, const KernelCallOptions& options) {
  const std::vector<expr::Value> values = detail::values_of(inputs);
  const std::vector<Tensor> outputs =
      detail::tensors_of_values(expr::call_kernel(kernel.kernel, params, values));
  return detail::with_rule(inputs, outputs, rule_of(kernel, params, options));
}

Tensor call(const UserKernel& kernel, std::span<const Tensor> inputs, const Params& params,
            const KernelCallOptions& options) {
  return call_all(kernel, inputs, params, options)[0];
}

Tensor call(const UserKernel& kernel, std::initializer_list<Tensor> inputs, const Params& params,
            const KernelCallOptions& options) {
  return call(kernel, std::span<const Tensor>{inputs.begin(), inputs.size()}, params, options);
}

}  // namespace stoker
