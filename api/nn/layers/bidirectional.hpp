// Runs a recurrent layer forward and backward over a sequence, and merges both results.
//
//     inputs: x [batch, time, features] [, forward state…, backward state…] [, padding mask]
//     outputs: {sequence, final state…}, as for lstm and gru, each merged
//
// concatenate joins both along the last axis; add, multiply and average keep its extent.
//
// Both sequences are merged in time order. A final state is that of the last step in its direction:
// for the backward direction, the first in time. Each direction has its own variables,
// "forward_input_kernel" and so on; with shared_weights (as in Axon) both use one set.
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/functional/recurrent_inputs.hpp"
#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn::layers {

enum class Cell : std::uint8_t { lstm, gru };
enum class Merge : std::uint8_t { concatenate, add, multiply, average };

struct Bidirectional {
  static constexpr const char* kind = "bidirectional";
  Cell cell = Cell::lstm;
  Merge merge = Merge::concatenate;
  bool shared_weights = false;
  Required<std::int64_t> units = {};
  ActivationName activation = tanh;
  ActivationName gate = sigmoid;
  Unroll unroll = Unroll::dynamic;
  bool padding_mask = false;
  bool use_bias = true;
  InitializerName kernel_initializer = initializers::glorot_uniform;
  InitializerName bias_initializer = initializers::zeros;
  InitializerName recurrent_initializer = initializers::glorot_uniform;
  std::string name = {};
};
template <class V> void visit_options(Bidirectional& o, V&& visit) {
  visit("cell", o.cell, one_of<Cell>({{"lstm", Cell::lstm}, {"gru", Cell::gru}}),
        "the layer that runs in both directions");
  visit("merge", o.merge,
        one_of<Merge>({{"concatenate", Merge::concatenate},
                       {"add", Merge::add},
                       {"multiply", Merge::multiply},
                       {"average", Merge::average}}),
        "how the results of both directions are merged");
  visit("shared_weights", o.shared_weights, anything, "both directions share one set of variables");
  visit_recurrent(o, visit);
}

}  // namespace stoker::nn::layers
