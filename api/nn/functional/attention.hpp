// Attention: each query gathers the values whose keys are like it.
//
//     Tensor y = scaled_dot_product_attention(q, k, v, {.causal = true});
//
//     softmax(scale · q·kᵀ) · v       q: [batch, heads, queries, size]
//                                     k: [batch, heads, keys, size]
//                                     v: [batch, heads, keys, value size]
//
// The axes in front of the last two broadcast; there may be any number of them. Masks and softmax
// are in f32 for f16 and bf16, too; the result has the dtype of the operands.
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
  /// Broadcasts to [batch, heads, queries, keys]. Integers: a key takes part where it is not 0.
  /// (The masks of recurrent layers mean the reverse: they say where padding is.) Floats are added
  /// to the scores; a key takes no part where one is -∞. A query that no key takes part for gets 0.
  Tensor mask = {};
  /// Query i sees the keys up to i + keys - queries, so that the last one sees all.
  bool causal = false;
  std::optional<double> scale = {};  ///< default 1 / √size
  double dropout = 0;                ///< the share of weights that become 0; others grow to make up
  Tensor key = {};                   ///< for dropout, [2] u32, used for nothing else
};

[[nodiscard]] Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                                  const AttentionOptions& options = {});

/// [batch, time, heads·size] as [batch, heads, time, size], and back.
[[nodiscard]] Tensor split_heads(const Tensor& x, std::int64_t heads);
[[nodiscard]] Tensor join_heads(const Tensor& x);

}  // namespace stoker::nn
