#include "stoker/api/nn/layers/dense.hpp"

#include "stoker/api/nn/functional/projection.hpp"

namespace stoker::nn {
namespace layers::dense {
namespace {

std::vector<VariableSpec> variables(std::span<const TensorSpec> inputs, const Dense& options) {
  const Shape& x = inputs[0].shape;
  if (x.rank() < 2)
    throw Error{"dense",
                ErrorCode::shape_mismatch,
                "expected [batch, …, features], got " + x.to_string(),
                {{"input", x.to_string()}}};
  return kernel_and_bias({x[x.rank() - 1], options.units}, options.units, options);
}

std::vector<Tensor> apply(LayerCall& call, const Dense& options) {
  const Tensor bias = call.has("bias") ? call.variable("bias") : Tensor{};
  const Tensor y = projected(call.x(), call.variable("kernel"), bias);
  return {activation(options.activation)(y)};
}

}  // namespace

void define(LayerTable& table) {
  table.add<Dense>({.summary = "activation(x · kernel + bias) along the last axis",
                    .variables = &variables,
                    .apply = &apply});
}

}  // namespace layers::dense

Node dense(const Node& x, std::int64_t units, layers::Dense options) {
  give(options, &layers::Dense::units, units);
  return Layer{options}(x);
}

}  // namespace stoker::nn
