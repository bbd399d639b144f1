#include "stoker/api/nn/layers/bilinear.hpp"

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::nn {
namespace layers::bilinear {
namespace {

/// Throws unless both have the same axes before the last.
void check(const Shape& a, const Shape& b) {
  const bool fits =
      a.rank() >= 2 && a.rank() == b.rank() && a.without(a.rank() - 1) == b.without(b.rank() - 1);
  if (!fits)
    throw Error{"bilinear",
                ErrorCode::shape_mismatch,
                "expected [batch, …, features] twice, the same but for features, got " +
                    a.to_string() + " and " + b.to_string(),
                {{"first", a.to_string()}, {"second", b.to_string()}}};
}

std::vector<VariableSpec> variables(std::span<const TensorSpec> inputs, const Bilinear& options) {
  const Shape& a = inputs[0].shape;
  const Shape& b = inputs[1].shape;
  check(a, b);
  return kernel_and_bias({options.units, a[a.rank() - 1], b[b.rank() - 1]}, options.units, options);
}

std::vector<Tensor> apply(LayerCall& call, const Bilinear& options) {
  const Shape& shape = call.x().shape();
  check(shape, call.x(1).shape());
  const Tensor& kernel = call.variable("kernel");
  const std::size_t last = shape.rank() - 1;
  const std::int64_t rows = shape.without(last).elements();
  const Tensor a = stoker::reshape(call.x(), {rows, kernel.shape()[1]});
  const Tensor b = stoker::reshape(call.x(1), {rows, kernel.shape()[2]});
  // [rows, in1] with [units, in1, in2]: [rows, units, in2]; then each row with its own b.
  const Tensor half = dot(a, {Axes{1}}, kernel, {Axes{1}});
  Tensor y = dot(half, {Axes{2}, Axes{0}}, b, {Axes{1}, Axes{0}});
  y = stoker::reshape(y, shape.with(last, kernel.shape()[0]));
  if (call.has("bias")) y = y + call.variable("bias");
  return {activation(options.activation)(y)};
}

}  // namespace

void define(LayerTable& table) {
  table.add<Bilinear>({.summary = "activation(first · kernel · second + bias) along the last axes",
                       .least_inputs = 2,
                       .most_inputs = 2,
                       .variables = &variables,
                       .apply = &apply});
}

}  // namespace layers::bilinear

Node bilinear(const Node& a, const Node& b, std::int64_t units, layers::Bilinear options) {
  give(options, &layers::Bilinear::units, units);
  return Layer{options}(std::vector<Node>{a, b});
}

}  // namespace stoker::nn
