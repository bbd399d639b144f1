// The common dtype of an operation's operands, by Nx's rules: close to NumPy's, but a float tensor
// combined with an integer tensor keeps its width.
//
// Pure functions; any thread. bool counts as u8.
#pragma once

#include <complex>
#include <cstdint>
#include <variant>

#include "stoker/runtime/base/dtype.hpp"

namespace stoker::expr {

/// A number in the program; its dtype adapts to the tensor beside it.
using Literal = std::variant<std::int64_t, std::uint64_t, double, std::complex<double>>;

/// Within a class the wider one; unsigned with signed a signed one that holds both, as far as 64 bits
/// do; integers with a float that float; f16 with bf16 f16. Complex with a float: of the wider one's
/// parts, f64 with c64 c128; with an integer it stays.
[[nodiscard]] DType merged(DType a, DType b) noexcept;
/// The tensor's dtype if the number fits in it: u8 with 255 u8, with 256 u16, with -1 s16. An integer
/// tensor with a float is f32; any with a complex number is complex.
[[nodiscard]] DType merged(DType tensor, const Literal& literal) noexcept;
/// Of a number alone: integers s32 (or what holds them), floats f32, complex numbers c64.
[[nodiscard]] DType dtype_of_literal(const Literal& literal) noexcept;
/// Where a quotient or an exponential lives: integers become f32.
[[nodiscard]] DType floating(DType dtype) noexcept;
/// The complex dtype whose parts hold it: f64 and c128 c128, all others c64.
[[nodiscard]] DType complexed(DType dtype) noexcept;
/// Where a sum or a product lives: unsigned integers u32, u64 s64; signed s32, s64 s64; floats and
/// complex stay.
[[nodiscard]] DType aggregated(DType dtype) noexcept;

}  // namespace stoker::expr
