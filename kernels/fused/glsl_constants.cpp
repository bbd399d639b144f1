#include "stoker/kernels/fused/glsl_constants.hpp"

#include <bit>
#include <cstdio>

namespace stoker::kernels::fused {
namespace {

/// The bits of a float, or the upper ones of a double, whose exponent is in the bits of `exponent`.
/// Drivers that see a 0, an infinity or a NaN may think that there are none: that x · 0 is 0, that
/// x / 0 may be anything. So they see a number that they cannot know.
std::string float_bits(std::uint32_t word, std::uint32_t exponent) {
  char text[48];
  const bool special = (word & 0x7fffffffU) == 0 || (word & exponent) == exponent;
  std::snprintf(text, sizeof text, special ? "0x%xu | fused_zero()" : "0x%xu", word);
  return text;
}

}  // namespace

GlslNames names_of(DType dtype) noexcept {
  if (dtype == DType::f64) return {"double", "dvec4"};
  if (is_float(dtype)) return {"float", "vec4"};
  if (dtype == DType::s64) return {"int64_t", "i64vec4"};
  if (dtype == DType::u64) return {"uint64_t", "u64vec4"};
  return is_signed(dtype) ? GlslNames{"int", "ivec4"} : GlslNames{"uint", "uvec4"};
}

std::uint32_t word_of(const FusedProgram::Constant& constant) {
  const auto low = static_cast<std::uint32_t>(constant.bits);
  switch (constant.dtype) {
    case DType::f16:
      return std::bit_cast<std::uint32_t>(
          static_cast<float>(std::bit_cast<Half>(static_cast<std::uint16_t>(low))));
    case DType::bf16: return low << 16;
    case DType::s8: return static_cast<std::uint32_t>(static_cast<std::int8_t>(low));
    case DType::s16: return static_cast<std::uint32_t>(static_cast<std::int16_t>(low));
    case DType::u8: return low & 255U;
    case DType::u16: return low & 65535U;
    case DType::boolean: return (low & 255U) != 0;
    default: return low;
  }
}

std::string from_words(DType dtype, const std::string& first, const std::string& second) {
  if (dtype == DType::f64) return "packDouble2x32(uvec2(" + first + ", " + second + "))";
  if (is_float(dtype)) return "uintBitsToFloat(" + first + ")";
  if (size_of(dtype) == 8) {
    const std::string type = names_of(dtype).scalar;
    return type + "(uint64_t(" + first + ") | (uint64_t(" + second + ") << 32))";
  }
  return is_signed(dtype) ? "int(" + first + ")" : first;
}

std::string literal(const FusedProgram::Constant& constant) {
  char text[64];
  const std::uint32_t word = word_of(constant);
  if (constant.dtype == DType::f64) {
    std::snprintf(text, sizeof text, "packDouble2x32(uvec2(0x%xu, ", word);
    const auto high = static_cast<std::uint32_t>(constant.bits >> 32);
    return text + float_bits(high, 0x7ff00000U) + "))";
  }
  if (is_float(constant.dtype)) return "uintBitsToFloat(" + float_bits(word, 0x7f800000U) + ")";
  if (size_of(constant.dtype) == 8)
    std::snprintf(text, sizeof text, "%s(0x%llxUL)", names_of(constant.dtype).scalar,
                  static_cast<unsigned long long>(constant.bits));
  else
    std::snprintf(text, sizeof text, is_signed(constant.dtype) ? "int(0x%xu)" : "0x%xu", word);
  return text;
}

}  // namespace stoker::kernels::fused
