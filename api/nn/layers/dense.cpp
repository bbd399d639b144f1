// y = activation(x · kernel + bias) along the last axis.
#include "stoker/api/nn/functional/activation.hpp"
#include "stoker/api/nn/functional/projection.hpp"
#include "stoker/api/nn/graph/layer.hpp"
#include "stoker/api/nn/graph/layer_options.hpp"

namespace stoker::nn::layers::dense {
namespace {

std::vector<VariableSpec> variables(std::span<const TensorSpec> inputs, const ParamSet& options) {
  const Shape& x = inputs[0].shape;
  if (x.rank() < 2)
    throw Error{"dense",
                ErrorCode::shape_mismatch,
                "expected [batch, …, features], got " + x.to_string(),
                {{"input", x.to_string()}}};
  const std::int64_t units = options.integer("units");
  return kernel_and_bias({x[x.rank() - 1], units}, units, options);
}

std::vector<Tensor> apply(LayerCall& call) {
  const Tensor bias = call.has("bias") ? call.variable("bias") : Tensor{};
  const Tensor y = projected(call.x(), call.variable("kernel"), bias);
  return {activation(call.options().text("activation"))(y)};
}

}  // namespace

void define(LayerTable& table) {
  table.add({.name = "dense",
             .summary = "activation(x · kernel + bias) along the last axis",
             .options = product_options(),
             .variables = &variables,
             .apply = &apply});
}

}  // namespace stoker::nn::layers::dense
