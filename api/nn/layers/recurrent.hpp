// Sequences [batch, time, features] to {[batch, time, units], final state…}: lstm gives c and h,
// gru h. functional/recurrent_inputs.hpp says what they take beside the sequence.
//
// The input's part of all gates is one product for the whole sequence; each step only adds the
// state's. Kernels hold all gates side by side, i f g o and r z n, so an initializer counts their
// outputs together.
//
// With reverse=true results stay in the order of time, so that both ways can be merged
// (bidirectional.hpp).
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/functional/recurrent_inputs.hpp"
#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn::layers {

template <KindName Kind> struct RecurrentOf {
  static constexpr const char* kind = Kind.text;
  Required<std::int64_t> units = {};
  ActivationName activation = tanh;
  ActivationName gate = sigmoid;
  Unroll unroll = Unroll::dynamic;
  bool reverse = false;
  bool mask = false;
  bool use_bias = true;
  InitializerName kernel_initializer = initializers::glorot_uniform;
  InitializerName bias_initializer = initializers::zeros;
  InitializerName recurrent_initializer = initializers::glorot_uniform;
  std::string name = {};
};
template <KindName Kind, class V> void visit_options(RecurrentOf<Kind>& o, V&& visit) {
  visit_recurrent(o, visit);
}
using Lstm = RecurrentOf<"lstm">;
using Gru = RecurrentOf<"gru">;

}  // namespace stoker::nn::layers
