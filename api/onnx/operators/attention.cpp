// Attention and rotary positions. https://onnx.ai/onnx/operators/onnx__Attention.html
#include <cmath>
#include <limits>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::attention {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

/// [batch, heads, length, size], also from [batch, length, heads·size].
Tensor by_heads(const Call& call, std::size_t i, const char* attribute) {
  Tensor x = call.x(i);
  if (x.rank() == 4) return x;
  if (x.rank() != 3) call.refuse(ErrorCode::shape_mismatch, "expected 3 or 4 axes");
  const std::int64_t heads = call.node().integer(attribute);
  return transpose(reshape(x, {x.shape()[0], x.shape()[1], heads, -1}), Axes{0, 2, 1, 3});
}

/// Throws shape_mismatch unless each head of keys, and as many of values, serve equally many of queries.
void check_heads(const Call& call, std::int64_t queries, std::int64_t keys, std::int64_t values) {
  if (keys <= 0 || keys != values || queries % keys != 0)
    call.refuse(ErrorCode::shape_mismatch, std::to_string(queries) + " heads of queries for " +
                                               std::to_string(keys) + " of keys and " +
                                               std::to_string(values) + " of values");
}

/// Each head for `times` heads of the queries that follow each other.
Tensor repeated_heads(const Tensor& x, std::int64_t times) {
  if (times == 1) return x;
  const Shape& s = x.shape();
  return reshape(broadcast(new_axis(x, 2), Shape{s[0], s[1], times, s[2], s[3]}),
                 {s[0], s[1] * times, s[2], s[3]});
}

/// What is added to the scores [batch, heads, queries, keys]; empty: nothing.
Tensor bias_of(const Call& call, std::int64_t queries, std::int64_t keys, std::int64_t past,
               DType dtype) {
  Tensor bias;
  const auto add = [&](const Tensor& more) { bias = bias.has_value() ? bias + more : more; };
  if (call.has(3)) {
    Tensor mask = call.x(3);
    if (mask.rank() == 0) call.refuse(ErrorCode::shape_mismatch, "a mask without axes");
    mask = call.type(3) == ElementType::boolean
               ? select(mask, full(Shape{}, 0.0, dtype), full(Shape{}, minus_infinity, dtype))
               : as_type(mask, dtype);
    const std::int64_t given = mask.shape()[mask.rank() - 1];
    if (given != keys && given != 1) {  // keys that the mask does not speak of are left out
      std::vector<Padding> padding(mask.rank());
      padding.back().high = keys - given;
      mask = pad(mask, full(Shape{}, minus_infinity, dtype), padding);
    }
    add(mask);
  }
  const Shape shape{1, 1, queries, keys};
  const auto lengths = [&] { return reshape(as_type(call.x(6), DType::s32), {-1, 1, 1, 1}); };
  if (call.node().flag("is_causal", false)) {
    const Tensor row = iota_along(shape, 2);
    const Tensor offset =
        call.has(6) ? lengths() - queries : full(Shape{1, 1, 1, 1}, past, DType::s32);
    add(select(less(row + offset, iota_along(shape, 3)), full(Shape{}, minus_infinity, dtype),
               full(Shape{}, 0.0, dtype)));
  }
  if (call.has(6))
    add(select(less(iota_along(Shape{1, 1, 1, keys}, 3), lengths()), full(Shape{}, 0.0, dtype),
               full(Shape{}, minus_infinity, dtype)));
  return bias;
}

Values attention_rule(Call& call) {
  const Node& node = call.node();
  const Tensor q = by_heads(call, 0, "q_num_heads");
  Tensor k = by_heads(call, 1, "kv_num_heads");
  Tensor v = by_heads(call, 2, "kv_num_heads");
  const std::int64_t past = call.has(4) ? call.shape(4)[2] : 0;
  if (call.has(4)) k = concatenate({call.x(4), k}, 2);
  if (call.has(5)) v = concatenate({call.x(5), v}, 2);
  const Value present_key = call.like(k, 1);
  const Value present_value = call.like(v, 2);
  const std::int64_t heads = q.shape()[1];
  check_heads(call, heads, k.shape()[1], v.shape()[1]);
  const std::int64_t queries = q.shape()[2];
  const std::int64_t keys = k.shape()[2];
  const double scale = node.has("scale") ? static_cast<double>(node.real("scale"))
                                         : 1 / std::sqrt(static_cast<double>(q.shape()[3]));
  const DType wide = size_of(q.dtype()) < 4 ? DType::f32 : q.dtype();
  const Tensor wide_k = as_type(repeated_heads(k, heads / k.shape()[1]), wide);
  Tensor scores = matmul(as_type(q, wide) * scale, transpose(wide_k, Axes{0, 1, 3, 2}));
  const std::int64_t mode = node.integer("qk_matmul_output_mode", 0);
  Tensor shown = scores;
  const double cap = node.real("softcap", 0);
  if (cap > 0) scores = tanh(scores / cap) * cap;
  if (mode == 1) shown = scores;
  const Tensor bias = bias_of(call, queries, keys, past, wide);
  if (bias.has_value()) scores = scores + bias;
  if (mode == 2) shown = scores;
  Tensor weights = softmax(scores, -1);
  if (bias.has_value()) {
    // A query that may look at nothing gets zeros.
    const Tensor most = reduce_max(bias, {.axes = Axes{-1}, .keepdims = true});
    weights = select(equal(most, minus_infinity), zeros_like(weights), weights);
  }
  if (mode == 3) shown = weights;
  const Tensor wide_v = as_type(repeated_heads(v, heads / v.shape()[1]), wide);
  Tensor y = matmul(weights, wide_v);
  if (call.rank() == 3)
    y = reshape(transpose(y, Axes{0, 2, 1, 3}), {call.shape()[0], queries, heads * v.shape()[3]});
  return {call.like(y), present_key, present_value, call.like(shown)};
}

/// Graphs of the node change the scores and the weights.
Values flex_attention(Call& call) {
  const Node& node = call.node();
  const Tensor q = call.x(0);
  if (q.rank() != 4 || call.rank(1) != 4 || call.rank(2) != 4)
    call.refuse(ErrorCode::shape_mismatch, "expected 4 axes");
  const std::int64_t heads = q.shape()[1];
  check_heads(call, heads, call.shape(1)[1], call.shape(2)[1]);
  const double scale = node.has("scale") ? static_cast<double>(node.real("scale"))
                                         : 1 / std::sqrt(static_cast<double>(q.shape()[3]));
  const DType wide = size_of(q.dtype()) < 4 ? DType::f32 : q.dtype();
  const auto repeated = [&](std::size_t i) {
    return as_type(repeated_heads(call.x(i), heads / call.shape(i)[1]), wide);
  };
  const Tensor v = repeated(2);
  Value kept_v = call.keep(Value{v});
  Tensor scores = matmul(as_type(q, wide) * scale, transpose(repeated(1), Axes{0, 1, 3, 2}));
  const auto changed = [&](const Tensor& x, const char* attribute) {
    if (!node.has(attribute)) return x;
    const Values inputs{call.keep(Value{x})};
    return as_type(call.walker().run(node.graph(attribute), inputs).at(0).tensor(), wide);
  };
  const Tensor weights = changed(softmax(changed(scores, "score_mod"), -1), "prob_mod");
  return {call.like(matmul(weights, kept_v.tensor()))};
}

/// Pairs of elements turned by the angle of their position.
Values rotary_embedding(Call& call) {
  const bool is_flat = call.rank() == 3;
  const Tensor x = is_flat ? by_heads(call, 0, "num_heads") : call.x();
  const std::int64_t size = x.shape()[3];
  const std::int64_t given = call.node().integer("rotary_embedding_dim", 0);
  const std::int64_t turned = given == 0 ? size : given;
  if (turned % 2 != 0 || turned > size)
    call.refuse(ErrorCode::invalid_parameter, "rotary_embedding_dim");
  // [batch, 1, length, turned / 2]
  const auto cache = [&](std::size_t i) {
    Tensor all = call.has(3) ? take(call.x(i), call.x(3)) : call.x(i);
    return new_axis(slice_along_axis(all, 0, turned / 2, -1), 1);
  };
  const Tensor cosine = cache(1);
  const Tensor sine = cache(2);
  const Tensor part = slice_along_axis(x, 0, turned, 3);
  const bool is_interleaved = call.node().flag("interleaved", false);
  Tensor a;
  Tensor b;
  if (is_interleaved) {
    a = slice_along_axis(part, 0, turned - 1, 3, 2);
    b = slice_along_axis(part, 1, turned - 1, 3, 2);
  } else {
    a = slice_along_axis(part, 0, turned / 2, 3);
    b = slice_along_axis(part, turned / 2, turned / 2, 3);
  }
  const Tensor real = cosine * a - sine * b;
  const Tensor imaginary = sine * a + cosine * b;
  Tensor y = is_interleaved ? reshape(stack({real, imaginary}, -1), part.shape())
                            : concatenate({real, imaginary}, 3);
  if (turned < size) y = concatenate({y, slice_along_axis(x, turned, size - turned, 3)}, 3);
  if (is_flat) y = reshape(transpose(y, Axes{0, 2, 1, 3}), call.shape());
  return {call.like(y)};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "Attention",
             .since = {23, 24},
             .least_inputs = 3,
             .most_inputs = 7,
             .most_outputs = 4,
             .types = {.operands = {float_types, like(0), float_types,
                                    number_types | ElementType::boolean, like(0), like(2),
                                    ElementType::s64},
                       .results = {like(0), like(0), like(2), like(0)}},
             .attributes = {"is_causal", "kv_num_heads", "q_num_heads", "qk_matmul_output_mode",
                            "scale", "softcap", "softmax_precision"},
             .lower = &attention_rule});
  table.add({.name = "FlexAttention",
             .domain = "ai.onnx.preview",
             .least_inputs = 3,
             .most_inputs = 3,
             .types = {.operands = {float_types}, .results = {like(0)}},
             .attributes = {"prob_mod", "scale", "score_mod", "softmax_precision"},
             .lower = &flex_attention});
  table.add({.name = "RotaryEmbedding",
             .since = {23},
             .least_inputs = 3,
             .most_inputs = 4,
             .types = {.operands = {float_types, like(0), like(0), ElementType::s64},
                       .results = {like(0)}},
             .attributes = {"interleaved", "num_heads", "rotary_embedding_dim"},
             .lower = &rotary_embedding});
}

}  // namespace stoker::onnx::operators::attention
