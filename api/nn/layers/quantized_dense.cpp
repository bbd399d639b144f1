// y = activation(x · values · scale + bias) along the last axis: a dense layer whose kernel has 8
// bits (quantization.hpp). values and scale are states: gradients pass to x and the bias only, and
// whoever makes the layer of a trained one puts quantize_dense(kernel) there.
#include "stoker/api/nn/functional/activation.hpp"
#include "stoker/api/nn/graph/layer.hpp"
#include "stoker/api/nn/graph/layer_options.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/train/model/quantization.hpp"

namespace stoker::nn::layers::quantized_dense {
namespace {

std::vector<VariableSpec> variables(std::span<const TensorSpec> inputs, const ParamSet& options) {
  const Shape& x = inputs[0].shape;
  if (x.rank() < 2)
    throw Error{"quantized_dense",
                ErrorCode::shape_mismatch,
                "expected [batch, …, features], got " + x.to_string(),
                {{"input", x.to_string()}}};
  const std::int64_t units = options.integer("units");
  std::vector<VariableSpec> all{
      {"values", Shape{x[x.rank() - 1], units}, "zeros", VariableKind::state, DType::s8},
      {"scale", Shape{units}, "ones", VariableKind::state}};
  if (options.flag("use_bias"))
    all.push_back({"bias", Shape{units}, options.text("bias_initializer")});
  return all;
}

std::vector<Tensor> apply(LayerCall& call) {
  Tensor y = quantized_product(call.x(), {call.variable("values"), call.variable("scale")});
  if (call.has("bias")) y = y + call.variable("bias");
  return {activation(call.options().text("activation"))(y)};
}

}  // namespace

void define(LayerTable& table) {
  std::vector<ParamSpec> options = product_options();
  // There is no kernel to initialise.
  std::erase_if(options, [](const ParamSpec& one) { return one.name == "kernel_initializer"; });
  table.add({.name = "quantized_dense",
             .summary = "a dense layer whose kernel is stored in 8 bits",
             .options = std::move(options),
             .variables = &variables,
             .apply = &apply});
}

}  // namespace stoker::nn::layers::quantized_dense
