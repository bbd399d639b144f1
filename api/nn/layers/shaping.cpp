#include "stoker/api/nn/layers/shaping.hpp"

#include <algorithm>

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::nn {
namespace layers::shaping {
namespace {

std::vector<Tensor> flatten(LayerCall& call, const Flatten&) {
  const Tensor& x = call.x();
  // Of the row, whatever the batch is: -1 would not do for a batch of none.
  std::int64_t features = 1;
  for (std::size_t axis = 1; axis < x.rank(); ++axis) features *= x.shape()[axis];
  return {stoker::reshape(x, {x.shape()[0], features})};
}

std::vector<Tensor> reshape(LayerCall& call, const Reshape& options) {
  const Tensor& x = call.x();
  std::vector<std::int64_t> extents = options.shape.list();
  std::int64_t row = 1;
  for (std::size_t axis = 1; axis < x.rank(); ++axis) row *= x.shape()[axis];
  std::int64_t known = 1;
  for (const std::int64_t extent : extents)
    if (extent != -1) known *= extent;
  const auto open = std::ranges::find(extents, -1);
  if (open != extents.end() && known > 0 && row % known == 0) *open = row / known;
  std::int64_t wanted = 1;
  for (const std::int64_t extent : extents) wanted *= extent;
  if (wanted != row || std::ranges::any_of(extents, [](std::int64_t one) { return one < 0; }))
    throw Error{
        "reshape",
        ErrorCode::shape_mismatch,
        "rows of " + std::to_string(row) + " elements cannot have that shape",
        {{"input", x.shape().to_string()}, {"shape", to_string(ParamValue{options.shape.list()})}}};
  extents.insert(extents.begin(), x.shape()[0]);
  return {stoker::reshape(x, extents)};
}

std::vector<Tensor> transpose(LayerCall& call, const Transpose& options) {
  const Tensor& x = call.x();
  std::vector<std::int64_t> axes = options.permutation.list();
  if (axes.empty())
    for (auto axis = static_cast<std::int64_t>(x.rank()); --axis > 0;) axes.push_back(axis);
  std::vector<std::int64_t> sorted = axes;
  std::ranges::sort(sorted);
  bool all = sorted.size() + 1 == x.rank();
  for (std::size_t i = 0; all && i < sorted.size(); ++i)
    all = sorted[i] == static_cast<std::int64_t>(i) + 1;
  if (!all)
    throw Error{"transpose",
                ErrorCode::invalid_parameter,
                "expected each of the axes 1 to " + std::to_string(x.rank() - 1) + " once, got " +
                    to_string(ParamValue{axes}),
                {{"parameter", "permutation"}, {"input", x.shape().to_string()}}};
  axes.insert(axes.begin(), 0);
  return {stoker::transpose(x, Axes(axes.begin(), axes.end()))};
}

std::vector<VariableSpec> bias_of(std::span<const TensorSpec> inputs, const Bias& options) {
  const Shape& x = inputs[0].shape;
  if (x.rank() < 2)
    throw Error{"bias",
                ErrorCode::shape_mismatch,
                "expected [batch, …, features], got " + x.to_string(),
                {{"input", x.to_string()}}};
  return {{"bias", Shape{x[x.rank() - 1]}, options.bias_initializer}};
}

}  // namespace

void define(LayerTable& table) {
  table.add<Activation>({.summary = "an activation function applied to each element",
                         .apply = [](LayerCall& call, const Activation& options) {
                           return std::vector<Tensor>{activation(options.function)(call.x())};
                         }});
  table.add<Bias>({.summary = "x + bias along the last axis",
                   .variables = &bias_of,
                   .apply = [](LayerCall& call, const Bias&) {
                     return std::vector<Tensor>{call.x() + call.variable("bias")};
                   }});
  table.add<Flatten>({.summary = "each row flattened to a vector", .apply = &flatten});
  table.add<Reshape>({.summary = "each row in another shape", .apply = &reshape});
  table.add<Transpose>({.summary = "each row with its axes in another order", .apply = &transpose});
}

}  // namespace layers::shaping

Node activation(const Node& x, ActivationName function, layers::Activation options) {
  give(options, &layers::Activation::function, std::move(function));
  return Layer{options}(x);
}

Node flatten(const Node& x, const layers::Flatten& options) { return Layer{options}(x); }

Node reshape(const Node& x, Extents row, layers::Reshape options) {
  give(options, &layers::Reshape::shape, std::move(row));
  return Layer{options}(x);
}

}  // namespace stoker::nn
