#include "stoker/api/nn/layers/positions.hpp"

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

std::vector<VariableSpec> variables(std::span<const TensorSpec> inputs,
                                    const PositionEmbedding& options) {
  const Shape& x = inputs[0].shape;
  const std::int64_t length = options.length;
  if (x.rank() != 3 || x[1] > length) throw refused(x, length);
  return {{"kernel", Shape{length, x[2]}, options.kernel_initializer}};
}

std::vector<Tensor> apply(LayerCall& call, const PositionEmbedding& options) {
  const Shape& x = call.x().shape();
  const std::int64_t length = options.length;
  // Sequences may be longer than those that the network was built for.
  if (x.rank() != 3 || x[1] > length) throw refused(x, length);
  return {call.x() + slice_along_axis(call.variable("kernel"), 0, x[1])};
}

}  // namespace

void define(LayerTable& table) {
  table.add<PositionEmbedding>({.summary = "adds a learned vector to each position of a sequence",
                                .variables = &variables,
                                .apply = &apply});
}

}  // namespace stoker::nn::layers::positions
