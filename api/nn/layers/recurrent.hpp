// Maps sequences [batch, time, features] to {[batch, time, units], final state…}: c and h for lstm,
// h for gru. For further inputs see functional/recurrent_inputs.hpp.
//
// The input's part of all gates is one product for the whole sequence; each step only adds the
// state's part. Kernels hold all gates concatenated (i f g o, and r z n), so an initializer's
// fan-out covers all gates.
//
// With reverse=true the results stay in time order, so that both directions can be merged
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
  bool padding_mask = false;
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
