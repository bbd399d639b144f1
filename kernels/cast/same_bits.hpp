// Which casts change no bit.
#pragma once

#include "stoker/runtime/base/dtype.hpp"

namespace stoker::kernels::cast {

/// Equal dtypes, integers of one size, and bool as a byte.
[[nodiscard]] inline bool same_bits(DType from, DType to) noexcept {
  if (from == to) return true;
  if (to == DType::boolean || is_float(from) || is_float(to)) return false;
  return size_of(from) == size_of(to);
}

}  // namespace stoker::kernels::cast
