// Maps tokens [batch, time] to a u8 mask: 1 where the token is eos_token, the `padding_mask` of recurrent
// layers, which skip these steps. `inverted`: 1 everywhere else, the `mask` of attention.
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn::layers {

struct Mask {
  static constexpr const char* kind = "mask";
  Required<std::int64_t> eos_token = {};
  bool inverted = false;
  std::string name = {};
};
template <class V> void visit_options(Mask& o, V&& visit) {
  visit("eos_token", o.eos_token, anything, "the token that ends and pads sequences");
  visit("inverted", o.inverted, anything, "gives 0 at eos_token and 1 elsewhere");
}

}  // namespace stoker::nn::layers
