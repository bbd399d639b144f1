#include "stoker/kernels/scalar/glsl.hpp"

namespace stoker::kernels::scalar {

GlslNames names_of(DType dtype) noexcept {
  if (dtype == DType::f64) return {"double", "dvec4"};
  if (is_float(dtype)) return {"float", "vec4"};
  if (dtype == DType::s64) return {"int64_t", "i64vec4"};
  if (dtype == DType::u64) return {"uint64_t", "u64vec4"};
  return is_signed(dtype) ? GlslNames{"int", "ivec4"} : GlslNames{"uint", "uvec4"};
}

std::string filled(std::string_view text, DType operand, DType result,
                   std::span<const std::string> operands) {
  std::string filled;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      filled += text[i];
      continue;
    }
    const char what = text[++i];
    if (what == 'T')
      filled += names_of(operand).scalar;
    else if (what == 'R')
      filled += names_of(result).scalar;
    else
      filled += operands[static_cast<std::size_t>(what - '0')];
  }
  return filled;
}

}  // namespace stoker::kernels::scalar
