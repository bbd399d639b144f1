#include "stoker/pipeline/onnx/graph/element_type.hpp"

#include <array>

namespace stoker::onnx {
namespace {

struct About {
  std::string_view name;
  std::size_t bits;
  std::optional<DType> carrier;
};

// In the order of the enumeration.
constexpr std::array<About, element_type_count> table{{
    {"undefined", 0, {}},
    {"float", 32, DType::f32},
    {"uint8", 8, DType::u8},
    {"int8", 8, DType::s8},
    {"uint16", 16, DType::u16},
    {"int16", 16, DType::s16},
    {"int32", 32, DType::s32},
    {"int64", 64, DType::s64},
    {"string", 0, {}},
    {"bool", 8, DType::u8},
    {"float16", 16, DType::f16},
    {"double", 64, DType::f64},
    {"uint32", 32, DType::u32},
    {"uint64", 64, DType::u64},
    {"complex64", 64, DType::c64},
    {"complex128", 128, DType::c128},
    {"bfloat16", 16, DType::bf16},
    {"float8e4m3fn", 8, DType::u8},
    {"float8e4m3fnuz", 8, DType::u8},
    {"float8e5m2", 8, DType::u8},
    {"float8e5m2fnuz", 8, DType::u8},
    {"uint4", 4, DType::u8},
    {"int4", 4, DType::s8},
    {"float4e2m1", 4, DType::u8},
    {"float8e8m0", 8, DType::u8},
    {"uint2", 2, DType::u8},
    {"int2", 2, DType::s8},
}};

const About& about(ElementType type) noexcept { return table[static_cast<std::size_t>(type)]; }

}  // namespace

std::string_view to_string(ElementType type) noexcept { return about(type).name; }

std::optional<ElementType> parse_element_type(std::string_view name) noexcept {
  for (std::size_t i = 1; i < table.size(); ++i)
    if (table[i].name == name) return static_cast<ElementType>(i);
  return std::nullopt;
}

std::optional<ElementType> element_type(std::uint64_t number) noexcept {
  if (number == 0 || number >= table.size()) return std::nullopt;
  return static_cast<ElementType>(number);
}

std::size_t bits_of(ElementType type) noexcept { return about(type).bits; }

std::optional<DType> carrier_of(ElementType type) noexcept { return about(type).carrier; }

ElementType element_type_of(DType dtype) noexcept {
  if (dtype == DType::boolean) return ElementType::boolean;
  // The types that a dtype only carries come after the one that it is.
  for (std::size_t i = 1; i < table.size(); ++i)
    if (table[i].carrier == dtype && table[i].bits == 8 * size_of(dtype))
      return static_cast<ElementType>(i);
  return ElementType::undefined;
}

}  // namespace stoker::onnx
