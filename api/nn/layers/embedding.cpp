#include "stoker/api/nn/layers/embedding.hpp"

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/indexing.hpp"

namespace stoker::nn {
namespace layers::embedding {
namespace {

std::vector<VariableSpec> variables(std::span<const TensorSpec> inputs, const Embedding& options) {
  if (!is_integer(inputs[0].dtype))
    throw Error{"embedding",
                ErrorCode::dtype_mismatch,
                "expected indices, got " + inputs[0].to_string(),
                {{"expected", "integers"}, {"got", inputs[0].to_string()}}};
  return {
      {"kernel", Shape{options.vocab_size, options.embedding_size}, options.kernel_initializer}};
}

std::vector<Tensor> apply(LayerCall& call, const Embedding& options) {
  const std::int64_t last = options.vocab_size - 1;
  return {take(call.variable("kernel"), clip(call.x(), 0, last), 0)};
}

}  // namespace

void define(LayerTable& table) {
  table.add<Embedding>(
      {.summary = "the vector of each index; an index out of range takes the nearest vector",
       .variables = &variables,
       .apply = &apply});
}

}  // namespace layers::embedding

Node embedding(const Node& x, std::int64_t vocabulary, std::int64_t size,
               layers::Embedding options) {
  give(options, &layers::Embedding::vocab_size, vocabulary);
  give(options, &layers::Embedding::embedding_size, size);
  return Layer{options}(x);
}

}  // namespace stoker::nn
