// The element types of ONNX tensors: their names, widths and the dtype that carries them.
// https://onnx.ai/onnx/repo-docs/IR.html#tensor-element-types
//
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "stoker/runtime/base/dtype.hpp"

namespace stoker::onnx {

/// The numbers are those of TensorProto.DataType, which files hold.
enum class ElementType : std::uint8_t {
  undefined = 0,
  f32 = 1,
  u8 = 2,
  s8 = 3,
  u16 = 4,
  s16 = 5,
  s32 = 6,
  s64 = 7,
  string = 8,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  c64 = 14,
  c128 = 15,
  bf16 = 16,
  f8e4m3fn = 17,
  f8e4m3fnuz = 18,
  f8e5m2 = 19,
  f8e5m2fnuz = 20,
  u4 = 21,
  s4 = 22,
  f4e2m1 = 23,
  f8e8m0 = 24,
  u2 = 25,
  s2 = 26,
};
inline constexpr std::size_t element_type_count = 27;

/// ONNX's own name: "float", "int64", "bool", "float8e4m3fn", "string"; "undefined".
[[nodiscard]] std::string_view to_string(ElementType type) noexcept;
/// The type of that name, or nothing.
[[nodiscard]] std::optional<ElementType> parse_element_type(std::string_view name) noexcept;
/// The type for a number in a file; nothing for 0 and for numbers without a type.
[[nodiscard]] std::optional<ElementType> element_type(std::uint64_t number) noexcept;

/// Bits of one element: 2 to 128; 0 for strings and `undefined`.
[[nodiscard]] std::size_t bits_of(ElementType type) noexcept;
/// Whether files pack several elements into a byte, the first one in its lowest bits.
[[nodiscard]] inline bool is_packed(ElementType type) noexcept {
  return bits_of(type) > 0 && bits_of(type) < 8;
}

/// The dtype that holds elements of `type` on devices: the dtype of the same numbers if Stoker has
/// one; u8 for `boolean`; u8 for the bits of float8, float4 and e8m0; s8 or u8 for 4- and 2-bit
/// integers. Nothing for strings and `undefined`.
[[nodiscard]] std::optional<DType> carrier_of(ElementType type) noexcept;
/// The default element type of a tensor of this dtype. bool is `boolean`.
[[nodiscard]] ElementType element_type_of(DType dtype) noexcept;

}  // namespace stoker::onnx
