// Attention: each query takes a mean of the values, weighted by how similar their keys are to it.
//
//     Tensor y = scaled_dot_product_attention(q, k, v, {.causal = true});
//
//     softmax(scale · q·kᵀ) · v       q: [batch, heads, queries, size]
//                                     k: [batch, heads, keys, size]
//                                     v: [batch, heads, keys, value size]
//
// The axes before the last two broadcast; there may be any number of them. For f16 and bf16, masks
// and softmax are computed in f32; the result has the dtype of the operands.
//
// Formula: Vaswani et al., "Attention is all you need", arXiv:1706.03762.
//
// Pure functions; any thread. Errors are thrown: shape_mismatch, dtype_mismatch, invalid_parameter
// for a rate outside [0, 1), invalid_argument for dropout without a key.
#pragma once

#include <optional>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn {

struct AttentionOptions {
  /// Broadcasts to [batch, heads, queries, keys]. An integer mask selects the keys where it is not
  /// 0. A float mask is added to the scores, so -∞ excludes a key. A query whose keys are all excluded
  /// gets 0.
  Tensor mask = {};
  /// Query i sees the keys up to i + keys - queries, so the last query sees all keys.
  bool causal = false;
  std::optional<double> scale = {};  ///< default 1 / √size
  double dropout = 0;                ///< the share of weights set to 0; the others are scaled up
  Tensor key = {};                   ///< random key for dropout, [2] u32; use it for nothing else
};

[[nodiscard]] Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                                  const AttentionOptions& options = {});

/// [batch, time, heads·size] to [batch, heads, time, size], and the reverse.
[[nodiscard]] Tensor split_heads(const Tensor& x, std::int64_t heads);
[[nodiscard]] Tensor join_heads(const Tensor& x);

}  // namespace stoker::nn
