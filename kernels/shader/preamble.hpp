// The GLSL text that stands before every shader body, generated from the Shader's declaration.
//
// A shader file holds the computation only. What it may use:
//
//   stoker_group()     this group's linear index (linear_groups() spreads groups over the axes)
//   stoker_index()     stoker_group() * local_size_x + gl_LocalInvocationID.x; 32 bits, may lie past
//                      the end of the data: compare it with a push field and return
//   n, dims[3], …      push fields, as plain names
//   TILE, …            spec constants, as plain names
//   T, T4              for each type letter: the type to compute in, and its 4-vector
//   T_IS_FLOAT         1 for f16, bf16, f32 and f64, else 0
//   T_LEAST, T_MOST    the ends of what it is computed in: infinities, of integers the wide type's
//   T_IS_f16, …        1 for the letter's dtype, 0 for the other twelve
//   stoker_half(v)     the number of f16 that is nearest to a float, as a float
//   …                  last, what Shader::prologue makes of the variant, which may use all of this
//
// and for each binding `x`:
//
//   x(i)               element i as stored: float16_t for f16, uint16_t for bf16, uint8_t for u8 and
//                      bool, …; no conversion, so use it for copies. An lvalue if the binding writes
//   x_load(i)          element i in the compute type
//   x_store(i, v)      if the binding writes: rounds f16 and bf16 to nearest even, wraps narrow
//                      integers in two's complement, stores bool as v != 0
//   x_load4(i), x_store4(i, v)
//                      elements 4i … 4i+3 in one wide access; only where all four exist
//
// The compute type is float for f32, f16 and bf16; double for f64; int for s8, s16 and s32; uint for
// u8, u16, u32 and bool; int64_t and uint64_t for s64 and u64.
//
// Whether a value is NaN is asked by isnan(v): a driver may take v != v for false.
//
// Buffers are passed by address (GL_EXT_buffer_reference); they begin at a multiple of 16 bytes. Index
// arithmetic is 32-bit: up to 2^31 - 1 elements.
//
// A shader's parameters are one block of scalar layout: 8 bytes for each binding in order, then the push
// fields in order. Up to most_pushed_bytes it is the push constants. Of those the addresses may lie in
// memory instead, so that work that is recorded can be put on other buffers: the first pushed address is
// then that of a table, marked by table_bit. A longer block lies in memory as a whole, and what is
// pushed is its address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/kernels/shader/gpu_plan.hpp"
#include "stoker/runtime/base/dtype.hpp"

namespace stoker {

/// The preamble, from `#version` to `#line 1`: the body's first line is line 1 in messages.
/// A type that `variant` does not bind becomes an `#error` line, so compiling reports it.
[[nodiscard]] std::string preamble(const Shader& shader, const ShaderVariant& variant);

/// The dtype of a binding: `type` is a dtype name or a letter of `variant`. Nothing: neither.
[[nodiscard]] std::optional<DType> binding_dtype(std::string_view type,
                                                 const ShaderVariant& variant) noexcept;

/// Bytes of the push fields: 4 for each element.
[[nodiscard]] std::size_t push_bytes(const Shader& shader) noexcept;

/// Whether the parameters lie in memory as a whole.
[[nodiscard]] bool in_memory(const Shader& shader) noexcept;

/// The bit by which the address of a table differs: the highest two of an address are alike, on some devices
/// both set.
inline constexpr std::uint64_t table_bit = std::uint64_t{1} << 62;

}  // namespace stoker
