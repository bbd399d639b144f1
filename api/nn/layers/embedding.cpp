// A table of vectors by index.
#include "stoker/api/nn/graph/layer.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/indexing.hpp"

namespace stoker::nn::layers::embedding {
namespace {

std::vector<VariableSpec> variables(std::span<const TensorSpec> inputs, const ParamSet& options) {
  if (!is_integer(inputs[0].dtype))
    throw Error{"embedding",
                ErrorCode::dtype_mismatch,
                "expected indices, got " + inputs[0].to_string(),
                {{"expected", "integers"}, {"got", inputs[0].to_string()}}};
  return {{"kernel", Shape{options.integer("vocab_size"), options.integer("embedding_size")},
           options.text("kernel_initializer")}};
}

std::vector<Tensor> apply(LayerCall& call) {
  const std::int64_t last = call.options().integer("vocab_size") - 1;
  return {take(call.variable("kernel"), clip(call.x(), 0, last), 0)};
}

}  // namespace

void define(LayerTable& table) {
  const auto extent = [](const char* name, const char* doc) {
    return ParamSpec{
        .name = name, .type = ParamType::integer, .fallback = {}, .doc = doc, .min = 1};
  };
  table.add({.name = "embedding",
             .summary = "the vector of each index; those out of range take the nearest",
             .options = {extent("vocab_size", "how many vectors"),
                         extent("embedding_size", "their length"),
                         {.name = "kernel_initializer",
                          .type = ParamType::text,
                          .fallback = std::string{"uniform"},
                          .doc = "see initializer.hpp"}},
             .variables = &variables,
             .apply = &apply});
}

}  // namespace stoker::nn::layers::embedding
