// The f32 series of *.inc as C++: the GLSL functions that they call, and the texts themselves.
// Compiled once per instruction set; without branches, so that loops over them vectorise.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace stoker::kernels::scalar::STOKER_ISA::series {

using uint = std::uint32_t;

inline uint floatBitsToUint(float x) noexcept { return std::bit_cast<uint>(x); }
inline float uintBitsToFloat(uint x) noexcept { return std::bit_cast<float>(x); }
inline float abs(float x) noexcept { return std::fabs(x); }
inline float sqrt(float x) noexcept { return std::sqrt(x); }
inline float floor(float x) noexcept { return std::floor(x); }
inline bool isnan(float x) noexcept { return x != x; }
/// For |x| < 2^22: adding 1.5 · 2^23 leaves the nearest whole number.
inline float roundEven(float x) noexcept { return (x + 12582912.0F) - 12582912.0F; }

// The texts serve two languages, so only the preprocessor can take them in. A contracted product in
// C++ is more precise, never less; `precise` is for GLSL.
#define STOKER_PRECISE
#define STOKER_SELECTS_LOSE_NAN false
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#define STOKER_SERIES(...) __VA_ARGS__
namespace {
// Each text calls those before it.
// clang-format off
#include "stoker/kernels/scalar/common.inc"
#include "stoker/kernels/scalar/exponential.inc"
#include "stoker/kernels/scalar/trigonometric.inc"
#include "stoker/kernels/scalar/error_function.inc"
// clang-format on
}  // namespace
#pragma GCC diagnostic pop
#undef STOKER_SERIES
#undef STOKER_PRECISE
#undef STOKER_SELECTS_LOSE_NAN

}  // namespace stoker::kernels::scalar::STOKER_ISA::series
