// Cuts a tensor into equal parts along its first axis.
//
// Threads: any. Nothing runs: the parts are views of the whole.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// What to do with an incomplete last part.
enum class Leftover : std::uint8_t {
  repeat,  ///< it is filled up from the beginning
  discard,
};

/// Parts of `n` along axis 0, in order. Throws shape_mismatch for a scalar, invalid_parameter unless
/// 1 ≤ n ≤ the extent.
[[nodiscard]] std::vector<Tensor> to_batched(const Tensor& tensor, std::int64_t n,
                                             Leftover leftover = Leftover::repeat);

}  // namespace stoker
