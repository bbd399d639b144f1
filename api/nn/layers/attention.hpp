// attention: softmax(scale · q·kᵀ) · v. Inputs: query, key[, value][, mask].
//
// multi_head_attention: the same for several heads at once, with learned projections of query, key,
// value and the result, which has the query's features. Inputs: query[, key[, value]][, mask], each
// [batch, time, features]; key defaults to the query, value to the key.
//
// If the option `mask` is set, the last input is the mask: [batch, keys], [batch, queries, keys]
// or, for multi_head_attention, [batch, heads, queries, keys]. See functional/attention.hpp for its
// meaning.
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/graph/layer_options.hpp"
#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn::layers {

template <class O, class V> void visit_attention(O& o, V&& visit) {
  visit("causal", o.causal, anything, "a query attends to no later position");
  visit("dropout", o.dropout, within(0, 1), "the probability of dropping a weight while training");
  visit("mask", o.mask, anything, "the last input is a mask; a key takes part where it is not 0");
}

struct Attention {
  static constexpr const char* kind = "attention";
  bool causal = false;
  double dropout = 0;
  bool mask = false;
  double scale = 0;
  std::string name = {};
};
template <class V> void visit_options(Attention& o, V&& visit) {
  visit_attention(o, visit);
  visit("scale", o.scale, at_least(0), "factor on the scores; 0: 1 / √size");
}

struct MultiHeadAttention {
  static constexpr const char* kind = "multi_head_attention";
  Required<std::int64_t> heads = {};
  std::int64_t key_size = 0;
  bool causal = false;
  double dropout = 0;
  bool mask = false;
  bool use_bias = true;
  InitializerName kernel_initializer = initializers::glorot_uniform;
  InitializerName bias_initializer = initializers::zeros;
  std::string name = {};
};
template <class V> void visit_options(MultiHeadAttention& o, V&& visit) {
  visit("heads", o.heads, at_least(1), "number of heads");
  visit("key_size", o.key_size, at_least(0),
        "features of one head; 0: those of the query, divided by heads");
  visit_attention(o, visit);
  visit_kernel(o, visit);
}

}  // namespace stoker::nn::layers
