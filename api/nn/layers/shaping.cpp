// Layers that change how rows lie, and the one that applies a function. The batch stays where it is.
#include <algorithm>

#include "stoker/api/nn/functional/activation.hpp"
#include "stoker/api/nn/graph/layer.hpp"
#include "stoker/api/nn/graph/layer_options.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::nn::layers::shaping {
namespace {

std::vector<Tensor> flatten(LayerCall& call) {
  const Tensor& x = call.x();
  // Of the row, whatever the batch is: -1 would not do for a batch of none.
  std::int64_t features = 1;
  for (std::size_t axis = 1; axis < x.rank(); ++axis) features *= x.shape()[axis];
  return {stoker::reshape(x, {x.shape()[0], features})};
}

std::vector<Tensor> reshape(LayerCall& call) {
  const Tensor& x = call.x();
  std::vector<std::int64_t> extents = call.options().integers("shape");
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
    throw Error{"reshape",
                ErrorCode::shape_mismatch,
                "rows of " + std::to_string(row) + " elements cannot have that shape",
                {{"input", x.shape().to_string()},
                 {"shape", to_string(ParamValue{call.options().integers("shape")})}}};
  extents.insert(extents.begin(), x.shape()[0]);
  return {stoker::reshape(x, extents)};
}

/// `permutation` speaks of the row's axes, which it counts from 1: {2, 1} turns images.
std::vector<Tensor> transpose(LayerCall& call) {
  const Tensor& x = call.x();
  std::vector<std::int64_t> axes = call.options().integers("permutation");
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

std::vector<VariableSpec> bias_of(std::span<const TensorSpec> inputs, const ParamSet& options) {
  const Shape& x = inputs[0].shape;
  if (x.rank() < 2)
    throw Error{"bias",
                ErrorCode::shape_mismatch,
                "expected [batch, …, features], got " + x.to_string(),
                {{"input", x.to_string()}}};
  return {{"bias", Shape{x[x.rank() - 1]}, options.text("bias_initializer")}};
}

}  // namespace

void define(LayerTable& table) {
  table.add({.name = "activation",
             .summary = "a function of each element",
             .options = {{.name = "function",
                          .type = ParamType::text,
                          .fallback = {},
                          .doc = "see activation.hpp"}},
             .apply = [](LayerCall& call) {
               return std::vector<Tensor>{activation(call.options().text("function"))(call.x())};
             }});
  table.add({.name = "bias",
             .summary = "x + bias along the last axis",
             .options = {kernel_options()[2]},
             .variables = &bias_of,
             .apply = [](LayerCall& call) {
               return std::vector<Tensor>{call.x() + call.variable("bias")};
             }});
  table.add({.name = "flatten", .summary = "rows as vectors", .apply = &flatten});
  table.add({.name = "reshape",
             .summary = "rows of another shape",
             .options = {{.name = "shape",
                          .type = ParamType::integers,
                          .fallback = {},
                          .doc = "of a row; one may be -1: what is left"}},
             .apply = &reshape});
  table.add({.name = "transpose",
             .summary = "rows with their axes in another order",
             .options = {{.name = "permutation",
                          .type = ParamType::integers,
                          .fallback = std::vector<std::int64_t>{},
                          .doc = "of the axes from 1 on; none: turned round"}},
             .apply = &transpose});
}

}  // namespace stoker::nn::layers::shaping
