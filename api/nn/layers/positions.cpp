// x [batch, time, features] plus a learned row for each place in time.
#include "stoker/api/nn/graph/layer.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::nn::layers::positions {
namespace {

Error refused(const Shape& x, std::int64_t length) {
  return Error{"position_embedding",
               ErrorCode::shape_mismatch,
               "expected [batch, time, features] with at most " + std::to_string(length) +
                   " steps, got " + x.to_string(),
               {{"input", x.to_string()}, {"length", std::to_string(length)}}};
}

std::vector<VariableSpec> variables(std::span<const TensorSpec> inputs, const ParamSet& options) {
  const Shape& x = inputs[0].shape;
  const std::int64_t length = options.integer("length");
  if (x.rank() != 3 || x[1] > length) throw refused(x, length);
  return {{"kernel", Shape{length, x[2]}, options.text("kernel_initializer")}};
}

std::vector<Tensor> apply(LayerCall& call) {
  const Shape& x = call.x().shape();
  const std::int64_t length = call.options().integer("length");
  // Sequences may be longer than those that the network was built for.
  if (x.rank() != 3 || x[1] > length) throw refused(x, length);
  return {call.x() + slice_along_axis(call.variable("kernel"), 0, x[1])};
}

}  // namespace

void define(LayerTable& table) {
  table.add({.name = "position_embedding",
             .summary = "adds a learned row for each place in a sequence",
             .options = {{.name = "length",
                          .type = ParamType::integer,
                          .fallback = {},
                          .doc = "the most steps that a sequence may have",
                          .min = 1},
                         {.name = "kernel_initializer",
                          .type = ParamType::text,
                          .fallback = ParamValue{std::string{"uniform"}},
                          .doc = "see initializer.hpp"}},
             .variables = &variables,
             .apply = &apply});
}

}  // namespace stoker::nn::layers::positions
