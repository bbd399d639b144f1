// Constant operands that every run reads completely from memory: the weights of convolutions and
// products.
//
// Threads and errors as in call.hpp.
#pragma once

#include "stoker/api/onnx/core/call.hpp"

namespace stoker::onnx {

/// Operand i. If a constant is an expression, such as a tensor filled with one number, each run would compute
/// it again; it is instead stored once for all plans. `part` as in Walker::prepared().
[[nodiscard]] inline Tensor stored_weights(const Call& call, std::size_t i, std::size_t part) {
  const Value& weights = call.input(i);
  if (!weights.is_constant() || !weights.is_lazy() || weights.tensor().evaluated())
    return call.x(i);
  return call.walker().prepared(part, [&] { return call.x(i); });
}

}  // namespace stoker::onnx
