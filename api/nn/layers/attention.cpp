// attention: softmax(scale · q·kᵀ) · v of its inputs query, key[, value][, mask].
//
// multi_head_attention: the same for several heads at once, with learned projections of query, key
// and value and one of the result, which has the query's features. Inputs query[, key[, value]][,
// mask], each [batch, time, features]; key is the query and value the key where they are not given.
//
// A mask is the last input, if the option `mask` is set: [batch, keys], [batch, queries, keys] or,
// for multi_head_attention, [batch, heads, queries, keys]. See ../attention.hpp for its meaning.
#include "stoker/api/nn/functional/attention.hpp"

#include "stoker/api/nn/functional/projection.hpp"
#include "stoker/api/nn/graph/layer.hpp"
#include "stoker/api/nn/graph/layer_options.hpp"
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

AttentionOptions options_of(const char* op, const LayerCall& call, std::size_t rank) {
  const ParamSet& options = call.options();
  // Also where nothing is dropped: whoever trains later shall not be the first to hear of it.
  if (options.real("dropout") >= 1)
    throw Error{op,
                ErrorCode::invalid_parameter,
                "expected a dropout rate below 1, got " + std::to_string(options.real("dropout")),
                {{"dropout", std::to_string(options.real("dropout"))}}};
  AttentionOptions made;
  if (options.flag("mask")) made.mask = aligned(call.inputs().back(), rank);
  made.causal = options.flag("causal");
  if (call.training()) {
    made.dropout = options.real("dropout");
    made.key = call.key();
  }
  return made;
}

std::vector<Tensor> apply_plain(LayerCall& call) {
  const auto in = operands("attention", call.inputs(), call.options().flag("mask"));
  AttentionOptions options = options_of("attention", call, in[0].rank());
  if (call.options().real("scale") > 0) options.scale = call.options().real("scale");
  return {scaled_dot_product_attention(in[0], in[1], in[2], options)};
}

constexpr const char* heads_name = "multi_head_attention";

/// The features of one head.
std::int64_t key_size(const Shape& query, const ParamSet& options) {
  const std::int64_t heads = options.integer("heads");
  const std::int64_t features = query[query.rank() - 1];
  if (options.integer("key_size") > 0) return options.integer("key_size");
  if (features % heads != 0)
    throw Error{heads_name,
                ErrorCode::invalid_parameter,
                std::to_string(features) + " features are not divisible by " +
                    std::to_string(heads) + " heads; a key_size would say how many each has",
                {{"features", std::to_string(features)}, {"heads", std::to_string(heads)}}};
  return features / heads;
}

std::vector<VariableSpec> variables(std::span<const TensorSpec> inputs, const ParamSet& options) {
  const auto in = operands(heads_name, inputs, options.flag("mask"));
  for (const TensorSpec& one : in)
    if (one.shape.rank() != 3 || one.shape[0] != in[0].shape[0])
      throw Error{
          heads_name,
          ErrorCode::shape_mismatch,
          "expected [batch, time, features] of one batch, got " + in[0].shape.to_string() + ", " +
              in[1].shape.to_string() + " and " + in[2].shape.to_string(),
          {{"query", in[0].to_string()}, {"key", in[1].to_string()}, {"value", in[2].to_string()}}};
  const std::int64_t inner = options.integer("heads") * key_size(in[0].shape, options);
  const std::int64_t features = in[0].shape[2];
  std::vector<VariableSpec> all;
  const auto add = [&](const std::string& name, std::int64_t from, std::int64_t to) {
    all.push_back({name + "_kernel", Shape{from, to}, options.text("kernel_initializer")});
    if (options.flag("use_bias"))
      all.push_back({name + "_bias", Shape{to}, options.text("bias_initializer")});
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

std::vector<Tensor> apply_heads(LayerCall& call) {
  const auto in = operands(heads_name, call.inputs(), call.options().flag("mask"));
  const std::int64_t heads = call.options().integer("heads");
  const Tensor q = split_heads(through(call, in[0], "query"), heads);
  const Tensor k = split_heads(through(call, in[1], "key"), heads);
  const Tensor v = split_heads(through(call, in[2], "value"), heads);
  const Tensor gathered =
      scaled_dot_product_attention(q, k, v, options_of(heads_name, call, q.rank()));
  return {through(call, join_heads(gathered), "output")};
}

std::vector<ParamSpec> common_options() {
  return {{.name = "causal",
           .type = ParamType::boolean,
           .fallback = false,
           .doc = "no query sees what comes after it"},
          {.name = "dropout",
           .type = ParamType::real,
           .fallback = 0.0,
           .doc = "the share of weights that become 0 while training",
           .min = 0,
           .max = 1},
          {.name = "mask",
           .type = ParamType::boolean,
           .fallback = false,
           .doc = "the last input is a mask: not 0 where a key takes part"}};
}

}  // namespace

void define(LayerTable& table) {
  std::vector<ParamSpec> plain = common_options();
  plain.push_back({.name = "scale",
                   .type = ParamType::real,
                   .fallback = 0.0,
                   .doc = "of scores; 0: 1 / √size",
                   .min = 0});
  table.add({.name = "attention",
             .summary = "softmax(scale · query · keyᵀ) · value",
             .options = std::move(plain),
             .least_inputs = 2,
             .most_inputs = 4,
             .apply = &apply_plain});

  std::vector<ParamSpec> several{{.name = "heads",
                                  .type = ParamType::integer,
                                  .fallback = {},
                                  .doc = "how many there are",
                                  .min = 1},
                                 {.name = "key_size",
                                  .type = ParamType::integer,
                                  .fallback = std::int64_t{0},
                                  .doc = "features of one head; 0: the query's / heads",
                                  .min = 0}};
  append(several, common_options());
  append(several, kernel_options());
  table.add({.name = heads_name,
             .summary = "attention of several heads with learned projections",
             .options = std::move(several),
             .most_inputs = 4,
             .variables = &variables,
             .apply = &apply_heads});
}

}  // namespace stoker::nn::layers::attention
