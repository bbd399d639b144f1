#include "stoker/pipeline/tensor/graph/kernel_op.hpp"

#include "stoker/kernels/kernel.hpp"

namespace stoker::expr {

Op kernel_op(std::string name, std::string_view kernel,
             std::function<Values(const Backward&)> gradient) {
  const std::shared_ptr<const Kernel> used = KernelRegistry::builtin().find(kernel).value();
  Op op;
  op.name = std::move(name);
  op.kind = OpKind::kernel;
  op.inputs = used->inputs;
  op.computed_by = used->name;
  op.summary = used->summary;
  op.infer = [used, name = op.name](const OpCall& call) -> Result<Specs> {
    const auto named = [&](const Error& error) {
      return Error{name,
                   error.code(),
                   std::string{error.reason()},
                   {error.details().begin(), error.details().end()}};
    };
    const auto params = ParamSet::resolve(used->name, used->params, call.attributes.params());
    if (!params) return named(params.error());
    const auto outputs = used->check(call.inputs, *params);
    if (!outputs) return named(outputs.error());
    return Specs(outputs->begin(), outputs->end());
  };
  op.kernel = [used](const OpCall& call) {
    return KernelUse{used->name, call.attributes.params()};
  };
  op.gradient = std::move(gradient);
  return op;
}

}  // namespace stoker::expr
