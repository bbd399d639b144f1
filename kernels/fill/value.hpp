// The bytes of one element of a filled buffer.
#pragma once

#include <array>
#include <cstddef>

#include "stoker/kernels/fill/options.hpp"
#include "stoker/runtime/base/dtype.hpp"
#include "stoker/runtime/base/error.hpp"

namespace stoker::kernels::fill {

/// An element's bytes, repeated until eight are full.
using Pattern = std::array<std::byte, 8>;

/// The element that `value` and `value_int` ask for. invalid_parameter when `dtype` cannot hold
/// it: a fraction or NaN in an integer, a number out of its range, or both at once.
/// Floats round to nearest even; bool is value != 0.
[[nodiscard]] Result<Pattern> pattern(const Fill& given, DType dtype);
/// The same of a number by itself.
[[nodiscard]] Result<Pattern> pattern(double value, DType dtype);

}  // namespace stoker::kernels::fill
