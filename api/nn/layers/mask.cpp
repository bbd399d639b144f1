#include "stoker/api/nn/layers/mask.hpp"

#include "stoker/api/tensor/math/elementwise.hpp"

namespace stoker::nn::layers::mask {
namespace {

std::vector<Tensor> apply(LayerCall& call, const Mask& options) {
  const std::int64_t token = options.eos_token;
  const Tensor& x = call.x();
  return {options.inverted ? x != token : x == token};
}

}  // namespace

void define(LayerTable& table) {
  table.add<Mask>({.summary = "1 where a token is eos_token, else 0", .apply = &apply});
}

}  // namespace stoker::nn::layers::mask
