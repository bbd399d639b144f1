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

/// Within a class the wider dtype. Unsigned with signed gives a signed dtype that holds both, as far
/// as 64 bits allow. An integer with a float gives that float; f16 with bf16 gives f16. A complex
/// dtype with a float gets the wider parts of the two: f64 with c64 gives c128. With an integer it
/// does not change.
[[nodiscard]] DType merged(DType a, DType b) noexcept;
/// The tensor's dtype if the number fits in it: u8 with 255 gives u8, with 256 u16, with -1 s16. An
/// integer tensor with a float gives f32; any tensor with a complex number gives a complex dtype.
[[nodiscard]] DType merged(DType tensor, const Literal& literal) noexcept;
/// The dtype of a number alone: s32 for integers (or a wider dtype that holds them), f32 for
/// floats, c64 for complex numbers.
[[nodiscard]] DType dtype_of_literal(const Literal& literal) noexcept;
/// The dtype of a quotient or an exponential: integers become f32.
[[nodiscard]] DType floating(DType dtype) noexcept;
/// The complex dtype whose parts can hold it: c128 for f64 and c128, c64 for all others.
[[nodiscard]] DType complexed(DType dtype) noexcept;
/// The dtype of a sum or a product: unsigned integers become u32, but u64 becomes s64; signed
/// integers become s32, but s64 stays; floats and complex dtypes stay.
[[nodiscard]] DType aggregated(DType dtype) noexcept;

}  // namespace stoker::expr
