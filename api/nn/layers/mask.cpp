// Tokens [batch, time] to u8: 1 where the token ends or pads a sequence, which is what recurrent
// layers leave out. `inverted`: 1 everywhere else, which is what attention takes.
#include "stoker/api/nn/graph/layer.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"

namespace stoker::nn::layers::mask {
namespace {

std::vector<Tensor> apply(LayerCall& call) {
  const std::int64_t token = call.options().integer("eos_token");
  const Tensor& x = call.x();
  return {call.options().flag("inverted") ? x != token : x == token};
}

}  // namespace

void define(LayerTable& table) {
  table.add({.name = "mask",
             .summary = "1 where a token is the one that pads, else 0",
             .options = {{.name = "eos_token",
                          .type = ParamType::integer,
                          .fallback = {},
                          .doc = "the token that ends and pads sequences"},
                         {.name = "inverted",
                          .type = ParamType::boolean,
                          .fallback = false,
                          .doc = "0 there and 1 elsewhere"}},
             .apply = &apply});
}

}  // namespace stoker::nn::layers::mask
