#include "stoker/runtime/base/dtype.hpp"

#include <array>

#include "stoker/runtime/base/error.hpp"

namespace stoker {
namespace {

struct Row {
  std::string_view name;
  std::uint8_t size;
  bool floating;
  bool integer;
  bool has_sign;
};

constexpr std::array<Row, stored_dtype_count> rows = {{
    {"f32", 4, true, false, true},
    {"f64", 8, true, false, true},
    {"f16", 2, true, false, true},
    {"bf16", 2, true, false, true},
    {"s8", 1, false, true, true},
    {"s16", 2, false, true, true},
    {"s32", 4, false, true, true},
    {"s64", 8, false, true, true},
    {"u8", 1, false, true, false},
    {"u16", 2, false, true, false},
    {"u32", 4, false, true, false},
    {"u64", 8, false, true, false},
    {"bool", 1, false, false, false},
    {"c64", 8, false, false, true},
    {"c128", 16, false, false, true},
}};

const Row& row(DType dtype) noexcept { return rows[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::string_view to_string(DType dtype) noexcept { return row(dtype).name; }

std::optional<DType> parse_dtype(std::string_view name) noexcept {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string_view own = rows[i].name;
    const bool alias = own.front() == 's' && name.size() == own.size() && name.front() == 'i' &&
                       name.substr(1) == own.substr(1);
    if (own == name || alias) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::size_t size_of(DType dtype) noexcept { return row(dtype).size; }
bool is_float(DType dtype) noexcept { return row(dtype).floating; }
bool is_integer(DType dtype) noexcept { return row(dtype).integer; }
bool is_signed(DType dtype) noexcept { return row(dtype).has_sign; }

void detail::refuse_visit(DType dtype) {
  throw Error{"dtype",
              ErrorCode::internal,
              "complex numbers are computed with as pairs of floats",
              {{"dtype", std::string{to_string(dtype)}}}};
}

// Both conversions shift the exponent by multiplying with a power of two, so that subnormals come
// out right without a special loop (F. Giesen, "Half to float done quick").
Half::Half(float value) noexcept {
  const auto raw = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((raw >> 16) & 0x8000U);
  std::uint32_t magnitude = raw & 0x7fffffffU;
  if (magnitude > 0x7f800000U) {
    bits = static_cast<std::uint16_t>(sign | 0x7e00U | ((magnitude >> 13) & 0x1ffU));
  } else if (magnitude >= 0x477ff000U) {  // rounds to beyond 65504
    bits = static_cast<std::uint16_t>(sign | 0x7c00U);
  } else if (magnitude < 0x38800000U) {  // subnormal or zero: let float addition round
    const float shifted = std::bit_cast<float>(magnitude) + std::bit_cast<float>(0x3f000000U);
    bits = static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000U));
  } else {
    magnitude += 0xc8000fffU + ((magnitude >> 13) & 1U);
    bits = static_cast<std::uint16_t>(sign | (magnitude >> 13));
  }
}

Half::operator float() const noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t magnitude = static_cast<std::uint32_t>(bits & 0x7fffU) << 13;
  if (magnitude >= 0x0f800000U)  // infinity or NaN
    return std::bit_cast<float>(sign | 0x70000000U | magnitude);
  const float scaled = std::bit_cast<float>(magnitude) * std::bit_cast<float>(0x77800000U);
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(scaled));
}

}  // namespace stoker
