// The domain com.microsoft: attention with masks of several forms, behind the projections of one input or of three.
// https://onnxruntime.ai/docs/reference/operators/ContribOperators.html
#include <algorithm>
#include <limits>

#include "stoker/api/onnx/core/expected_shape.hpp"
#include "stoker/api/onnx/core/rule_of.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::microsoft::attention {
namespace {

constexpr float default_filter = -10000.0F;
constexpr float lowest = std::numeric_limits<float>::lowest();

/// Queries, keys and values [batch, heads, length, size], and what stands before the keys; empty: nothing.
struct Heads {
  Tensor q, k, v;
  Value past_key, past_value;

  [[nodiscard]] std::int64_t batch() const { return q.shape()[0]; }
  [[nodiscard]] std::int64_t queries() const { return q.shape()[2]; }
  [[nodiscard]] std::int64_t past() const { return past_key.is_given() ? past_key.shape()[2] : 0; }
  [[nodiscard]] std::int64_t keys() const { return past() + k.shape()[2]; }
};

/// [batch, heads, length, size] of [batch, length, heads·size].
Tensor by_heads(const Call& call, const Tensor& x, std::int64_t heads) {
  const Shape& shape = x.shape();
  if (shape[2] % heads != 0)
    call.refuse(ErrorCode::shape_mismatch, std::to_string(shape[2]) +
                                               " elements are no multiple of num_heads " +
                                               std::to_string(heads));
  return transpose(reshape(x, {shape[0], shape[1], heads, shape[2] / heads}), Axes{0, 2, 1, 3});
}

/// Which keys lie before the ends [batch] and, if the mask at i says so, at or behind the starts, [2·batch]
/// with the ends. Of [3·batch + 2], which says more to packed kernels, the ends count. [batch, 1, 1, keys]
Tensor within_ends(const Call& call, std::size_t i, std::int64_t batch, std::int64_t keys) {
  expect_shape(call, i, "mask", {{batch}, {2 * batch}, {3 * batch + 2}});
  const Tensor place = iota_along(Shape{1, 1, 1, keys}, 3);
  const auto part = [&](std::int64_t first) {
    return reshape(as_type(slice_along_axis(call.x(i), first, batch), place.dtype()),
                   {batch, 1, 1, 1});
  };
  Tensor before_end = less(place, part(0));
  if (call.shape(i)[0] != 2 * batch) return before_end;
  return logical_and(before_end, greater_equal(place, part(batch)));
}

/// 0 where a key may be looked at, else what mask_filter_value says; [batch, 1, queries or 1, keys]. The mask
/// at i says where keys end, or has 1 for each that may be looked at (else 0): [batch, keys], [batch,
/// queries, keys] or [batch, 1, most, most], of which the rows from `past` on count. Empty: all may be.
Tensor mask_of(const Call& call, std::size_t i, const Heads& heads) {
  if (!call.has(i)) return {};
  const std::int64_t batch = heads.batch();
  const std::int64_t keys = heads.keys();
  const std::int64_t queries = heads.queries();
  const Shape& shape = call.shape(i);
  Tensor visible;
  if (shape.rank() == 1) {
    visible = within_ends(call, i, batch, keys);
  } else if (shape.rank() == 4) {
    const std::int64_t most = shape[3];
    expect_shape(call, i, "mask", {batch, 1, most, most});
    if (most < std::max(keys, heads.past() + queries))
      call.refuse(ErrorCode::shape_mismatch, "mask: expected " + std::to_string(keys) +
                                                 " keys or more, got " + call.input(i).to_string());
    visible = greater(slice(call.x(i), {0, 0, heads.past(), 0}, {batch, 1, queries, keys}), 0);
  } else {
    // One number for all keys changes nothing.
    if (shape.rank() == 2 && shape[1] == 1 && keys != 1 && (shape[0] == batch || shape[0] == 1))
      return {};
    expect_shape(call, i, "mask", {{batch, keys}, {batch, queries, keys}});
    visible = greater(reshape(call.x(i), {batch, 1, shape.rank() == 2 ? 1 : queries, keys}), 0);
  }
  const double filter = call.node().real("mask_filter_value", default_filter);
  return select(visible, full(Shape{}, 0.0, DType::f32), full(Shape{}, filter, DType::f32));
}

/// Output, present keys, present values and the scores before the softmax. The mask stands at `mask`, what is
/// added to the scores [batch or 1, heads or 1, queries, keys] at `bias`.
Values attended(const Call& call, const Heads& heads, std::size_t mask, std::size_t bias) {
  const std::int64_t batch = heads.batch();
  const std::int64_t queries = heads.queries();
  const std::int64_t keys = heads.keys();
  const std::int64_t count = heads.q.shape()[1];
  expect_shape(call, bias, "attention_bias",
               {{batch, count, queries, keys},
                {1, count, queries, keys},
                {batch, 1, queries, keys},
                {1, 1, queries, keys}});
  Tensor added = mask_of(call, mask, heads);
  // ONNX Runtime lets the last query look at all keys, also where there are more keys than queries.
  if (call.node().flag("unidirectional", false) && queries > 1) {
    const Tensor row = iota_along(Shape{1, 1, queries, keys}, 2);
    const Tensor later =
        logical_and(less(row + heads.past(), iota_along(Shape{1, 1, queries, keys}, 3)),
                    less(row, queries - 1));
    // It stands in the place of what the mask says, and is a number: a query whose other keys have it from
    // the mask, too, looks at all keys.
    added = select(later, full(Shape{}, lowest, DType::f32),
                   added.has_value() ? added : full(Shape{}, 0.0, DType::f32));
  }
  if (call.has(bias)) {
    const Tensor more = as_type(call.x(bias), DType::f32);
    added = added.has_value() ? added + more : more;
  }
  std::vector<Attribute> attributes{
      {.name = "qk_matmul_output_mode", .value = std::int64_t{2}, .reference = {}}};
  if (const float scale = call.node().real("scale", 0); scale != 0)
    attributes.push_back({.name = "scale", .value = scale, .reference = {}});
  const auto given = [&](const Tensor& x) { return call.like(x); };
  Values results =
      rule_of(call, node_with("Attention", std::move(attributes)), 24,
              {given(heads.q), given(heads.k), given(heads.v),
               added.has_value() ? Value{added} : Value{}, heads.past_key, heads.past_value});
  const Tensor y = results.at(0).tensor();
  results[0] = call.like(
      reshape(transpose(y, Axes{0, 2, 1, 3}), {batch, queries, count * heads.v.shape()[3]}));
  return results;
}

/// One input by weights of queries, keys and values beside each other.
Values attention(Call& call) {
  expect_shape(call, 0, "input", {any_extent, any_extent, any_extent});
  const std::int64_t heads = call.node().integer("num_heads");
  const std::int64_t all = call.rank(1) == 2 ? call.shape(1)[1] : any_extent;
  expect_shape(call, 1, "weights", {call.shape()[2], all});
  expect_shape(call, 2, "bias", {all});
  const Axes sizes = call.node().integers("qkv_hidden_sizes", {all / 3, all / 3, all / 3});
  const auto is_part = [&](std::int64_t size) { return size > 0 && size < all; };
  if (sizes.size() != 3 || sizes[0] != sizes[1] || !is_part(sizes[0]) || !is_part(sizes[2]) ||
      2 * sizes[0] + sizes[2] != all)
    call.refuse(ErrorCode::shape_mismatch, "weights: " + call.input(1).to_string() +
                                               " does not hold queries, keys and values");
  Tensor projected = matmul(call.x(0), call.x(1));
  if (call.has(2)) projected = projected + call.x(2);
  const auto part = [&](std::int64_t first, std::size_t i) {
    return by_heads(call, slice_along_axis(projected, first, sizes[i], 2), heads);
  };
  Heads made{part(0, 0), part(sizes[0], 1), part(2 * sizes[0], 2), {}, {}};
  if (call.has(4)) {
    const std::int64_t size = sizes[0] / heads;
    expect_shape(call, 4, "past", {2, made.batch(), heads, any_extent, size});
    expect_shape(call, 1, "weights behind a past", {call.shape()[2], 3 * sizes[0]});
    const auto half = [&](std::int64_t i) {
      return call.like(squeeze(slice_along_axis(call.x(4), i, 1), Axes{0}));
    };
    made.past_key = half(0);
    made.past_value = half(1);
  }
  const Values results = attended(call, made, 3, 5);
  if (!call.node().has_output(1)) return {results.at(0)};
  if (sizes[0] != sizes[2])
    call.refuse(ErrorCode::shape_mismatch,
                "present: keys and values of one size expected, got qkv_hidden_sizes " +
                    std::to_string(sizes[0]) + " and " + std::to_string(sizes[2]));
  return {results[0], call.like(stack({results[1].tensor(), results[2].tensor()}))};
}

/// Part `index` of [batch, length, heads, parts, size] as [batch, heads, length, size].
Tensor unpacked(const Tensor& x, std::int64_t index) {
  return transpose(squeeze(slice_along_axis(x, index, 1, 3), Axes{3}), Axes{0, 2, 1, 3});
}

/// What MultiHeadAttention reads, before biases: queries, keys and values apart, keys and values packed, or all three.
Heads projected_heads(const Call& call, std::int64_t heads) {
  const bool has_values = call.has(2);
  if (!call.has(1)) {
    expect_shape(call, 0, "query without key", {any_extent, any_extent, heads, 3, any_extent});
    if (has_values) call.refuse(ErrorCode::arity_mismatch, "value: it is given without key");
    return {unpacked(call.x(0), 0), unpacked(call.x(0), 1), unpacked(call.x(0), 2), {}, {}};
  }
  expect_shape(call, 0, "query", {any_extent, any_extent, any_extent});
  const std::int64_t batch = call.shape()[0];
  const std::int64_t width = call.shape()[2];
  const Tensor q = by_heads(call, call.x(0), heads);
  if (!has_values) {
    expect_shape(call, 1, "key without value", {batch, any_extent, heads, 2, width / heads});
    return {q, unpacked(call.x(1), 0), unpacked(call.x(1), 1), {}, {}};
  }
  if (call.rank(1) == 4) {
    expect_shape(call, 1, "key", {batch, heads, any_extent, width / heads});
    expect_shape(call, 2, "value", {batch, heads, call.shape(1)[2], any_extent});
    return {q, call.x(1), call.x(2), {}, {}};
  }
  expect_shape(call, 1, "key", {batch, any_extent, width});
  expect_shape(call, 2, "value", {batch, call.shape(1)[1], any_extent});
  return {q, by_heads(call, call.x(1), heads), by_heads(call, call.x(2), heads), {}, {}};
}

Values multi_head_attention(Call& call) {
  const std::int64_t heads = call.node().integer("num_heads");
  Heads made = projected_heads(call, heads);
  const std::int64_t size = made.q.shape()[3];
  const std::int64_t value_size = made.v.shape()[3];
  if (call.has(3)) {
    expect_shape(call, 3, "bias", {heads * (2 * size + value_size)});
    const auto part = [&](std::int64_t first, std::int64_t of) {
      return reshape(slice_along_axis(call.x(3), first, heads * of), {1, heads, 1, of});
    };
    made.q = made.q + part(0, size);
    // Keys and values that are split into heads already have theirs.
    if (!(call.has(1) && call.rank(1) == 4)) {
      made.k = made.k + part(heads * size, size);
      made.v = made.v + part(2 * heads * size, value_size);
    }
  }
  if (call.has(6) != call.has(7))
    call.refuse(ErrorCode::arity_mismatch,
                "past_key and past_value: one is given without the other");
  if (call.has(6)) {
    expect_shape(call, 6, "past_key", {made.batch(), heads, any_extent, size});
    expect_shape(call, 7, "past_value", {made.batch(), heads, call.shape(6)[2], value_size});
    made.past_key = call.input(6);
    made.past_value = call.input(7);
  }
  // Not all that Attention knows: [2·batch], [batch, 1] and [batch, 1, most, most] are none of its forms.
  const std::int64_t batch = made.batch();
  expect_shape(
      call, 4, "key_padding_mask",
      {{batch}, {3 * batch + 2}, {batch, made.keys()}, {batch, made.queries(), made.keys()}});
  return attended(call, made, 4, 5);
}

std::string unfit(const Node& node, bool shares_buffer) {
  if (node.integer("num_heads", 0) < 1) return "num_heads must be 1 or more";
  return shares_buffer ? "a past that shares its buffer with the present is not known" : "";
}
std::string unfit_attention(const Node& node, int) {
  if (node.flag("do_rotary", false)) return "do_rotary is not known";
  return unfit(node, node.flag("past_present_share_buffer", false) || node.has_input(6));
}
std::string unfit_multi_head_attention(const Node& node, int) {
  return unfit(node, node.has_input(8) || node.has_input(9));
}

}  // namespace

void define(OperatorTable& table) {
  const std::string domain = "com.microsoft";
  table.add(
      {.name = "Attention",
       .domain = domain,
       .least_inputs = 2,
       .most_inputs = 7,
       .most_outputs = 2,
       .types = {.operands = {float_types, like(0), like(0), any_type}, .results = {like(0)}},
       .attributes = {"do_rotary", "mask_filter_value", "num_heads", "past_present_share_buffer",
                      "qkv_hidden_sizes", "rotary_embedding_dim", "scale", "unidirectional"},
       .refuse = &unfit_attention,
       .lower = &attention});
  table.add({.name = "MultiHeadAttention",
             .domain = domain,
             .least_inputs = 1,
             .most_inputs = 10,
             .most_outputs = 4,
             .types = {.operands = {float_types, like(0), like(0), like(0), any_type},
                       .results = {like(0)}},
             .attributes = {"mask_filter_value", "num_heads", "scale", "unidirectional"},
             .refuse = &unfit_multi_head_attention,
             .lower = &multi_head_attention});
}

}  // namespace stoker::onnx::operators::microsoft::attention
