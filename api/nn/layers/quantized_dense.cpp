#include "stoker/api/nn/layers/quantized_dense.hpp"

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/train/model/quantization.hpp"

namespace stoker::nn::layers::quantized_dense {
namespace {

std::vector<VariableSpec> variables(std::span<const TensorSpec> inputs,
                                    const QuantizedDense& options) {
  const Shape& x = inputs[0].shape;
  if (x.rank() < 2)
    throw Error{"quantized_dense",
                ErrorCode::shape_mismatch,
                "expected [batch, …, features], got " + x.to_string(),
                {{"input", x.to_string()}}};
  const std::int64_t units = options.units;
  std::vector<VariableSpec> all{
      {"values", Shape{x[x.rank() - 1], units}, "zeros", VariableKind::state, DType::s8},
      {"scale", Shape{units}, "ones", VariableKind::state}};
  if (options.use_bias) all.push_back({"bias", Shape{units}, options.bias_initializer});
  return all;
}

std::vector<Tensor> apply(LayerCall& call, const QuantizedDense& options) {
  Tensor y = quantized_product(call.x(), {call.variable("values"), call.variable("scale")});
  if (call.has("bias")) y = y + call.variable("bias");
  return {activation(options.activation)(y)};
}

}  // namespace

void define(LayerTable& table) {
  table.add<QuantizedDense>({.summary = "a dense layer whose kernel is stored in 8 bits",
                             .variables = &variables,
                             .apply = &apply});
}

}  // namespace stoker::nn::layers::quantized_dense
