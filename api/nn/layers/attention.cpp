#include "stoker/api/nn/layers/attention.hpp"

#include "stoker/api/nn/functional/attention.hpp"
#include "stoker/api/nn/functional/projection.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::nn::layers::attention {
namespace {

/// Query, key, value; what is not given repeats the one before.
template <class T> std::vector<T> operands(const char* op, std::span<const T> inputs, bool mask) {
  std::vector<T> all(inputs.begin(), inputs.end() - (mask ? 1 : 0));
  if (all.empty() || all.size() > 3)
    throw Error{op,
                ErrorCode::arity_mismatch,
                std::string{"expected query, key and value"} + (mask ? " and a mask" : "") +
                    ", got " + std::to_string(inputs.size()) + " inputs",
                {{"got", std::to_string(inputs.size())}}};
  while (all.size() < 3) all.push_back(all.back());
  return all;
}

/// With axes of extent 1 between the batch and the rest until it has `rank`.
Tensor aligned(Tensor mask, std::size_t rank) {
  while (mask.rank() >= 2 && mask.rank() < rank) mask = new_axis(mask, 1);
  return mask;
}

template <class O>
AttentionOptions options_of(const LayerCall& call, const O& options, std::size_t rank) {
  // Also where nothing is dropped: whoever trains later shall not be the first to hear of it.
  if (options.dropout >= 1)
    throw Error{O::kind,
                ErrorCode::invalid_parameter,
                "expected a dropout rate below 1, got " + std::to_string(options.dropout),
                {{"dropout", std::to_string(options.dropout)}}};
  AttentionOptions made;
  if (options.mask) made.mask = aligned(call.inputs().back(), rank);
  made.causal = options.causal;
  if (call.training()) {
    made.dropout = options.dropout;
    made.key = call.key();
  }
  return made;
}

std::vector<Tensor> apply_plain(LayerCall& call, const Attention& options) {
  const auto in = operands("attention", call.inputs(), options.mask);
  AttentionOptions how = options_of(call, options, in[0].rank());
  if (options.scale > 0) how.scale = options.scale;
  return {scaled_dot_product_attention(in[0], in[1], in[2], how)};
}

constexpr const char* heads_name = MultiHeadAttention::kind;

/// The features of one head.
std::int64_t key_size(const Shape& query, const MultiHeadAttention& options) {
  const std::int64_t heads = options.heads;
  const std::int64_t features = query[query.rank() - 1];
  if (options.key_size > 0) return options.key_size;
  if (features % heads != 0)
    throw Error{heads_name,
                ErrorCode::invalid_parameter,
                std::to_string(features) + " features are not divisible by " +
                    std::to_string(heads) + " heads; a key_size would say how many each has",
                {{"features", std::to_string(features)}, {"heads", std::to_string(heads)}}};
  return features / heads;
}

std::vector<VariableSpec> variables(std::span<const TensorSpec> inputs,
                                    const MultiHeadAttention& options) {
  const auto in = operands(heads_name, inputs, options.mask);
  for (const TensorSpec& one : in)
    if (one.shape.rank() != 3 || one.shape[0] != in[0].shape[0])
      throw Error{
          heads_name,
          ErrorCode::shape_mismatch,
          "expected [batch, time, features] of one batch, got " + in[0].shape.to_string() + ", " +
              in[1].shape.to_string() + " and " + in[2].shape.to_string(),
          {{"query", in[0].to_string()}, {"key", in[1].to_string()}, {"value", in[2].to_string()}}};
  const std::int64_t inner = options.heads * key_size(in[0].shape, options);
  const std::int64_t features = in[0].shape[2];
  std::vector<VariableSpec> all;
  const auto add = [&](const std::string& name, std::int64_t from, std::int64_t to) {
    all.push_back({name + "_kernel", Shape{from, to}, options.kernel_initializer});
    if (options.use_bias) all.push_back({name + "_bias", Shape{to}, options.bias_initializer});
  };
  add("query", features, inner);
  add("key", in[1].shape[2], inner);
  add("value", in[2].shape[2], inner);
  add("output", inner, features);
  return all;
}

/// In or out of the heads.
Tensor through(const LayerCall& call, const Tensor& x, const std::string& name) {
  const bool biased = call.has(name + "_bias");
  return projected(x, call.variable(name + "_kernel"),
                   biased ? call.variable(name + "_bias") : Tensor{});
}

std::vector<Tensor> apply_heads(LayerCall& call, const MultiHeadAttention& options) {
  const auto in = operands(heads_name, call.inputs(), options.mask);
  const std::int64_t heads = options.heads;
  const Tensor q = split_heads(through(call, in[0], "query"), heads);
  const Tensor k = split_heads(through(call, in[1], "key"), heads);
  const Tensor v = split_heads(through(call, in[2], "value"), heads);
  const Tensor gathered =
      scaled_dot_product_attention(q, k, v, options_of(call, options, q.rank()));
  return {through(call, join_heads(gathered), "output")};
}

}  // namespace

void define(LayerTable& table) {
  table.add<Attention>({.summary = "softmax(scale · query · keyᵀ) · value",
                        .least_inputs = 2,
                        .most_inputs = 4,
                        .apply = &apply_plain});
  table.add<MultiHeadAttention>({.summary = "attention of several heads with learned projections",
                                 .most_inputs = 4,
                                 .variables = &variables,
                                 .apply = &apply_heads});
}

}  // namespace stoker::nn::layers::attention
