#include "stoker/api/nn/functional/attention.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::nn {
namespace {

constexpr const char* name = "attention";

/// What is no score at all: its exponential is 0 beside any other, and it stays finite where there
/// is no other.
constexpr double nothing = -1e30;
/// The least score of what takes part, however low a mask makes it.
constexpr double least = nothing / 2;

std::int64_t extent(const Tensor& x, std::size_t from_end) {
  return x.shape()[x.rank() - from_end];
}

/// The axes in front of the last two.
Shape leading(const Tensor& x) { return x.shape().without(x.rank() - 1).without(x.rank() - 2); }

void check_operands(const Tensor& q, const Tensor& k, const Tensor& v) {
  const bool matrices = q.rank() >= 2 && k.rank() >= 2 && v.rank() >= 2;
  if (matrices && extent(q, 1) == extent(k, 1) && extent(k, 2) == extent(v, 2)) {
    const auto both = stoker::broadcast(leading(q), leading(k));
    if (both && stoker::broadcast(*both, leading(v))) return;
  }
  throw Error{
      name,
      ErrorCode::shape_mismatch,
      "expected q […, queries, size], k […, keys, size] and v […, keys, value size], got " +
          q.shape().to_string() + ", " + k.shape().to_string() + " and " + v.shape().to_string(),
      {{"q", q.spec().to_string()}, {"k", k.spec().to_string()}, {"v", v.spec().to_string()}}};
}

void check_dtypes(const Tensor& q, const Tensor& k, const Tensor& v) {
  for (const Tensor* one : {&q, &k, &v})
    if (!is_float(one->dtype()))
      throw Error{name,
                  ErrorCode::dtype_mismatch,
                  "expected floating-point numbers, got " + one->spec().to_string(),
                  {{"got", one->spec().to_string()}}};
}

void check_dropout(const AttentionOptions& options) {
  if (!(options.dropout >= 0 && options.dropout < 1))
    throw Error{name,
                ErrorCode::invalid_parameter,
                "expected a dropout rate in [0, 1), got " + std::to_string(options.dropout),
                {{"dropout", std::to_string(options.dropout)}}};
  if (options.dropout > 0 && !options.key.has_value())
    throw Error{name, ErrorCode::invalid_argument, "dropout needs a key of random numbers"};
}

void check_mask(const Tensor& mask, const Tensor& scores) {
  const auto shape = stoker::broadcast(mask.shape(), scores.shape());
  if (!shape || *shape != scores.shape())
    throw Error{name,
                ErrorCode::shape_mismatch,
                "expected a mask that broadcasts to " + scores.shape().to_string() + ", got " +
                    mask.shape().to_string(),
                {{"scores", scores.spec().to_string()}, {"mask", mask.spec().to_string()}}};
}

/// Which keys take part, of those that the mask and the order leave; no value: all.
Tensor taking_part(const Tensor& scores, const AttentionOptions& options) {
  Tensor part;
  if (options.mask.has_value())
    part = is_float(options.mask.dtype()) ? options.mask != -std::numeric_limits<double>::infinity()
                                          : options.mask != 0;
  if (!options.causal) return part;
  const std::int64_t queries = extent(scores, 2);
  const std::int64_t keys = extent(scores, 1);
  const Tensor before = tri(queries, keys, keys - queries);
  return part.has_value() ? logical_and(part, before) : before;
}

Tensor dropped(const Tensor& weights, double rate, const Tensor& key) {
  const Tensor drawn = random::uniform_split(key, weights.shape());
  return select(drawn < rate, 0, weights / (1 - rate));
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options) {
  check_operands(q, k, v);
  check_dtypes(q, k, v);
  check_dropout(options);
  const DType dtype = expr::merged(expr::merged(q.dtype(), k.dtype()), v.dtype());
  const DType within = dtype == DType::f64 ? dtype : DType::f32;
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(extent(q, 1))));
  Axes turned(k.rank());
  std::iota(turned.begin(), turned.end(), 0);
  std::swap(turned[k.rank() - 1], turned[k.rank() - 2]);
  // The queries are the smaller thing to scale, and products of f16 stay in their range.
  Tensor scores = as_type(matmul(q * scale, transpose(k, turned)), within);
  if (options.mask.has_value()) {
    check_mask(options.mask, scores);
    if (is_float(options.mask.dtype())) scores = max(scores + as_type(options.mask, within), least);
  }
  const Tensor part = taking_part(scores, options);
  if (part.has_value()) scores = select(part, scores, nothing);
  Tensor weights = softmax(scores);
  // Among scores that are all nothing the softmax is even; without a mask only the first of more
  // queries than keys come to that.
  const bool some_see_nothing = options.mask.has_value() || extent(scores, 2) > extent(scores, 1);
  if (part.has_value() && some_see_nothing) weights = select(part, weights, 0);
  if (options.dropout > 0) weights = dropped(weights, options.dropout, options.key);
  return matmul(as_type(weights, dtype), v);
}

Tensor split_heads(const Tensor& x, std::int64_t heads) {
  if (x.rank() != 3 || heads < 1 || extent(x, 1) % heads != 0)
    throw Error{name,
                ErrorCode::shape_mismatch,
                "expected [batch, time, features] with features for " + std::to_string(heads) +
                    " heads, got " + x.shape().to_string(),
                {{"input", x.spec().to_string()}, {"heads", std::to_string(heads)}}};
  const Shape& shape = x.shape();
  return transpose(reshape(x, {shape[0], shape[1], heads, shape[2] / heads}), Axes{0, 2, 1, 3});
}

Tensor join_heads(const Tensor& x) {
  if (x.rank() != 4)
    throw Error{name,
                ErrorCode::shape_mismatch,
                "expected [batch, heads, time, size], got " + x.shape().to_string(),
                {{"input", x.spec().to_string()}}};
  const Shape& shape = x.shape();
  return reshape(transpose(x, Axes{0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
}

}  // namespace stoker::nn
