// The CPU loops of the scalar functions: one for each function and dtype, over blocks.
//
// Compiled once per instruction set. Each family's *_cpu.cpp states how one element is computed; the
// loop around it, its dtypes and its place in the table are made here. Every function is a loop of
// its own, so nothing is contracted across two of them.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "stoker/kernels/cpu/convert.hpp"
#include "stoker/runtime/base/dtype.hpp"

namespace stoker::kernels::scalar::STOKER_ISA {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;

/// Computes result[i] of operands[0][i], operands[1][i] … for i < n. Elements are of the compute
/// type: float for f16 and bf16, bytes of 0 and 1 for bool, else as stored. `result` may be an
/// operand, never a shifted part of one.
using ScalarLoop = void (*)(const void* const* operands, void* result, std::size_t n) noexcept;

/// One function's loops; null where it does not take the dtype.
struct LoopSet {
  std::string_view name;
  std::array<ScalarLoop, dtype_count> by_operand{};
};

/// As cpu::Compute, but bool is a byte.
template <class T>
using Element = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, cpu::Compute<T>>;

/// `Function::apply(T…)` over blocks, with as many operands as it takes. Flattened, since a call in
/// the loop would keep it from being vectorised.
template <class Function, class C, class R, std::size_t... I>
[[gnu::flatten]] void apply_block(const void* const* operands, void* result, std::size_t n,
                                  std::index_sequence<I...>) noexcept {
  const std::array<const C*, sizeof...(I)> in{static_cast<const C*>(operands[I])...};
  auto* out = static_cast<R*>(result);
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<R>(Function::apply(in[I][i]...));
}

template <class Function, std::size_t Arity, class C, class R>
void loop(const void* const* operands, void* result, std::size_t n) noexcept {
  apply_block<Function, C, R>(operands, result, n, std::make_index_sequence<Arity>{});
}

/// What a family's loops range over.
template <class... T> struct Types {};
using Floats = Types<float, double, Half, BFloat16>;
using Integers = Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                       std::uint16_t, std::uint32_t, std::uint64_t>;
using Numbers = Types<float, double, Half, BFloat16, std::int8_t, std::int16_t, std::int32_t,
                      std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
using Everything =
    Types<float, double, Half, BFloat16, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
          std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, bool>;

template <class T> constexpr std::size_t index_of = static_cast<std::size_t>(dtype_of<T>);

/// Loops whose result has the operands' dtype.
template <class Function, std::size_t Arity, class... T>
constexpr LoopSet same(std::string_view name, Types<T...>) {
  LoopSet set{name};
  ((set.by_operand[index_of<T>] = &loop<Function, Arity, Element<T>, Element<T>>), ...);
  return set;
}

/// Loops whose result is u8.
template <class Function, std::size_t Arity, class... T>
constexpr LoopSet truth(std::string_view name, Types<T...>) {
  LoopSet set{name};
  ((set.by_operand[index_of<T>] = &loop<Function, Arity, Element<T>, std::uint8_t>), ...);
  return set;
}

/// The families' loops.
[[nodiscard]] std::span<const LoopSet> arithmetic_loops() noexcept;
[[nodiscard]] std::span<const LoopSet> comparison_loops() noexcept;
[[nodiscard]] std::span<const LoopSet> logic_loops() noexcept;
[[nodiscard]] std::span<const LoopSet> bits_loops() noexcept;
[[nodiscard]] std::span<const LoopSet> exponential_loops() noexcept;
[[nodiscard]] std::span<const LoopSet> trigonometric_loops() noexcept;
[[nodiscard]] std::span<const LoopSet> error_function_loops() noexcept;
[[nodiscard]] std::span<const LoopSet> conversion_loops() noexcept;
/// Conversions from any dtype to `to`, by the source's dtype; to f16 and bf16: to f32, unrounded.
[[nodiscard]] const LoopSet& cast_loops(DType to) noexcept;

/// The loop of `name` for these dtypes, or null.
[[nodiscard]] ScalarLoop find_loop(std::string_view name, DType operand, DType result) noexcept;
/// Rounds floats to the precision of f16 or bf16; null for the other dtypes.
[[nodiscard]] ScalarLoop rounding_loop(DType dtype) noexcept;

}  // namespace stoker::kernels::scalar::STOKER_ISA
