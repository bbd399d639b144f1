#include "stoker/kernels/fused/glsl_constants.hpp"

#include <bit>
#include <cstdio>

namespace stoker::kernels::fused {
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
  if (size_of(constant.dtype) == 8)
    std::snprintf(text, sizeof text, "%s(0x%llxUL)", names_of(constant.dtype).scalar,
                  static_cast<unsigned long long>(constant.bits));
  else
    std::snprintf(text, sizeof text, is_signed(constant.dtype) ? "int(0x%xu)" : "0x%xu", word);
  return text;
}

}  // namespace stoker::kernels::fused
