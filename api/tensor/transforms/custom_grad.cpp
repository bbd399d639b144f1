#include "stoker/api/tensor/transforms/custom_grad.hpp"

#include "stoker/api/tensor/core/values.hpp"
#include "stoker/pipeline/tensor/graph/custom_gradient.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::detail {
namespace {

/// What a rule gave, in the dtypes of the inputs.
expr::Values checked(std::span<const expr::Value> inputs, const std::vector<Tensor>& given) {
  if (given.size() != inputs.size())
    throw Error{
        "custom_grad",
        ErrorCode::arity_mismatch,
        "the rule gives " + std::to_string(given.size()) + " gradients for " +
            std::to_string(inputs.size()) + " tensors",
        {{"expected", std::to_string(inputs.size())}, {"got", std::to_string(given.size())}}};
  expr::Values gradients(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_float(inputs[i].dtype())) continue;
    if (given[i].shape() != inputs[i].shape())
      throw Error{
          "custom_grad",
          ErrorCode::shape_mismatch,
          "the rule gives " + given[i].spec().to_string() + " by an argument " +
              inputs[i].spec().to_string(),
          {{"expected", inputs[i].spec().to_string()}, {"got", given[i].spec().to_string()}}};
    gradients[i] = expr::cast(given[i].value(), inputs[i].dtype());
  }
  return gradients;
}

}  // namespace

std::vector<Tensor> with_rule(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                              TensorRule rule) {
  const auto in_values = [rule = std::move(rule)](std::span<const expr::Value> x,
                                                  std::span<const expr::Value> y,
                                                  std::span<const expr::Value> g) {
    return checked(x, rule(tensors_of_values(x), tensors_of_values(y), tensors_of_values(g)));
  };
  return tensors_of_values(expr::custom_gradient(values_of(inputs), values_of(outputs), in_values));
}

Traced trace_of(std::span<const Tensor> tensors) {
  Traced traced{expr::Node::next_serial(), {}};
  for (const Tensor& tensor : tensors)
    traced.parameters.emplace_back(expr::parameter(tensor.spec()));
  return traced;
}

std::vector<Tensor> checkpointed(const Traced& traced, std::span<const Tensor> results,
                                 std::span<const Tensor> arguments) {
  const expr::Function function{values_of(traced.parameters), values_of(results)};
  return tensors_of_values(expr::checkpoint(function, values_of(arguments), traced.mark));
}

}  // namespace stoker::detail
