// Sets of element types: what definitions of operators say about their operands (type_rule.hpp).
//
//     constexpr TypeSet scores = float_types | ElementType::s32;
//     scores.contains(ElementType::f16);                          // true
//
// Plain values; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/pipeline/onnx/graph/element_type.hpp"

namespace stoker::onnx {

class TypeSet {
 public:
  constexpr TypeSet() = default;
  constexpr TypeSet(ElementType type)  // NOLINT(google-explicit-constructor)
      : bits_{std::uint32_t{1} << static_cast<unsigned>(type)} {}

  [[nodiscard]] constexpr bool contains(ElementType type) const noexcept {
    return (bits_ & TypeSet{type}.bits_) != 0;
  }
  /// "float, double, float16": in the order of the enumeration.
  [[nodiscard]] std::string to_string() const;

  friend constexpr bool operator==(TypeSet, TypeSet) = default;

 private:
  friend constexpr TypeSet operator|(TypeSet a, TypeSet b) noexcept;

  std::uint32_t bits_ = 0;
};

/// Those of either.
[[nodiscard]] constexpr TypeSet operator|(TypeSet a, TypeSet b) noexcept {
  TypeSet both;
  both.bits_ = a.bits_ | b.bits_;
  return both;
}
[[nodiscard]] constexpr TypeSet operator|(ElementType a, ElementType b) noexcept {
  return TypeSet{a} | TypeSet{b};
}

inline constexpr TypeSet float_types =
    ElementType::f32 | ElementType::f64 | ElementType::f16 | ElementType::bf16;
inline constexpr TypeSet signed_types =
    ElementType::s8 | ElementType::s16 | ElementType::s32 | ElementType::s64;
inline constexpr TypeSet unsigned_types =
    ElementType::u8 | ElementType::u16 | ElementType::u32 | ElementType::u64;
inline constexpr TypeSet integer_types = signed_types | unsigned_types;
inline constexpr TypeSet number_types = float_types | integer_types;
/// Numbers whose sums do not overflow soon: those of products and reductions.
inline constexpr TypeSet sum_types =
    float_types | ElementType::s32 | ElementType::s64 | ElementType::u32 | ElementType::u64;
inline constexpr TypeSet index_types = ElementType::s32 | ElementType::s64;
inline constexpr TypeSet byte_types = ElementType::u8 | ElementType::s8;
inline constexpr TypeSet float8_types =
    ElementType::f8e4m3fn | ElementType::f8e4m3fnuz | ElementType::f8e5m2 | ElementType::f8e5m2fnuz;
/// What devices hold as bits or in wider elements: it moves, and is converted, but does not compute.
inline constexpr TypeSet narrow_types = float8_types | ElementType::f8e8m0 | ElementType::f4e2m1 |
                                        ElementType::s4 | ElementType::u4 | ElementType::s2 |
                                        ElementType::u2;
inline constexpr TypeSet wide_types = number_types | ElementType::boolean | ElementType::string |
                                      ElementType::c64 | ElementType::c128;
inline constexpr TypeSet any_type = wide_types | narrow_types;

}  // namespace stoker::onnx
