// Element types: their names, sizes and classes, and the two 16-bit float storage types.
//
// Values are plain data. Every function is thread-safe; all but visit_dtype() never throw.
#pragma once

#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stoker {

/// The element types of buffers. `boolean` is one byte holding 0 or 1 and is named "bool".
enum class DType : std::uint8_t {
  f32,
  f64,
  f16,
  bf16,
  s8,
  s16,
  s32,
  s64,
  u8,
  u16,
  u32,
  u64,
  boolean,
  c64,
  c128
};
/// The number of dtypes that kernels compute with. The complex ones that follow are storage only:
/// kernels see them as pairs of components, along one more axis.
inline constexpr std::size_t dtype_count = 13;
inline constexpr std::size_t stored_dtype_count = 15;

[[nodiscard]] std::string_view to_string(DType dtype) noexcept;
/// The dtype named `name` ("f32", "bool", …; "i32" is accepted for "s32"), or nothing.
[[nodiscard]] std::optional<DType> parse_dtype(std::string_view name) noexcept;
/// Bytes of one element.
[[nodiscard]] std::size_t size_of(DType dtype) noexcept;
[[nodiscard]] bool is_float(DType dtype) noexcept;
/// Signed or unsigned integer; bool is neither.
[[nodiscard]] bool is_integer(DType dtype) noexcept;
[[nodiscard]] bool is_signed(DType dtype) noexcept;
[[nodiscard]] constexpr bool is_complex(DType dtype) noexcept {
  return dtype == DType::c64 || dtype == DType::c128;
}
/// Float or complex: the dtypes that have gradients.
[[nodiscard]] inline bool is_inexact(DType dtype) noexcept {
  return is_float(dtype) || is_complex(dtype);
}
/// The dtype of a complex dtype's two parts; any other dtype itself.
[[nodiscard]] constexpr DType component_of(DType dtype) noexcept {
  return dtype == DType::c64 ? DType::f32 : dtype == DType::c128 ? DType::f64 : dtype;
}

/// IEEE 754 binary16 storage; arithmetic happens in float. Conversion rounds to nearest even.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  explicit Half(float value) noexcept;
  explicit operator float() const noexcept;
};

/// bfloat16 storage (the upper half of a binary32). Conversion rounds to nearest even; NaN stays NaN.
struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value) noexcept {
    const auto raw = std::bit_cast<std::uint32_t>(value);
    bits = (raw & 0x7fffffffU) > 0x7f800000U
               ? static_cast<std::uint16_t>((raw >> 16) | 0x40U)
               : static_cast<std::uint16_t>((raw + 0x7fffU + ((raw >> 16) & 1U)) >> 16);
  }
  explicit operator float() const noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

/// The DType of a C++ element type: dtype_of<float> == DType::f32.
template <class T>
inline constexpr DType dtype_of = [] {
  static_assert(sizeof(T) == 0, "no DType for this type");
  return DType::f32;
}();
template <> inline constexpr DType dtype_of<float> = DType::f32;
template <> inline constexpr DType dtype_of<double> = DType::f64;
template <> inline constexpr DType dtype_of<Half> = DType::f16;
template <> inline constexpr DType dtype_of<BFloat16> = DType::bf16;
template <> inline constexpr DType dtype_of<std::int8_t> = DType::s8;
template <> inline constexpr DType dtype_of<std::int16_t> = DType::s16;
template <> inline constexpr DType dtype_of<std::int32_t> = DType::s32;
template <> inline constexpr DType dtype_of<std::int64_t> = DType::s64;
template <> inline constexpr DType dtype_of<std::uint8_t> = DType::u8;
template <> inline constexpr DType dtype_of<std::uint16_t> = DType::u16;
template <> inline constexpr DType dtype_of<std::uint32_t> = DType::u32;
template <> inline constexpr DType dtype_of<std::uint64_t> = DType::u64;
template <> inline constexpr DType dtype_of<bool> = DType::boolean;
template <> inline constexpr DType dtype_of<std::complex<float>> = DType::c64;
template <> inline constexpr DType dtype_of<std::complex<double>> = DType::c128;

namespace detail {
[[noreturn]] void refuse_visit(DType dtype);
}  // namespace detail

/// Calls `visitor.template operator()<T>()` with the C++ element type of `dtype`
/// (bool is visited as bool). The one place that maps the enumeration to types. A complex dtype, which
/// nothing computes with, throws Error{internal}.
template <class Visitor> decltype(auto) visit_dtype(DType dtype, Visitor&& visitor) {
  switch (dtype) {
    case DType::f64: return visitor.template operator()<double>();
    case DType::f16: return visitor.template operator()<Half>();
    case DType::bf16: return visitor.template operator()<BFloat16>();
    case DType::s8: return visitor.template operator()<std::int8_t>();
    case DType::s16: return visitor.template operator()<std::int16_t>();
    case DType::s32: return visitor.template operator()<std::int32_t>();
    case DType::s64: return visitor.template operator()<std::int64_t>();
    case DType::u8: return visitor.template operator()<std::uint8_t>();
    case DType::u16: return visitor.template operator()<std::uint16_t>();
    case DType::u32: return visitor.template operator()<std::uint32_t>();
    case DType::u64: return visitor.template operator()<std::uint64_t>();
    case DType::boolean: return visitor.template operator()<bool>();
    case DType::c64:
    case DType::c128: detail::refuse_visit(dtype);
    case DType::f32: break;
  }
  return visitor.template operator()<float>();
}

}  // namespace stoker
