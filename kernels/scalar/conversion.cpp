#include <cmath>

#include "stoker/kernels/scalar/families.hpp"

namespace stoker::kernels::scalar {
namespace {

// Saturation, for each integer dtype: GLSL leaves values beyond the range and NaN open.
std::string_view saturating(DType to) {
  switch (to) {
    case DType::s8:
      return "($0 >= $T(128) ? 127 : $0 <= $T(-128) ? -128 : isnan($0) ? 0 : int($0))";
    case DType::s16:
      return "($0 >= $T(32768) ? 32767 : $0 <= $T(-32768) ? -32768 : isnan($0) ? 0 : int($0))";
    case DType::s32:
      return "($0 >= $T(2147483648.0) ? 0x7fffffff : $0 <= $T(-2147483648.0) ? int(0x80000000) : "
             "isnan($0) ? 0 : int($0))";
    case DType::u8: return "($0 >= $T(256) ? 255u : !($0 > $T(0)) ? 0u : uint($0))";
    case DType::u16: return "($0 >= $T(65536) ? 65535u : !($0 > $T(0)) ? 0u : uint($0))";
    case DType::u32:
      return "($0 >= $T(4294967296.0) ? 0xffffffffu : !($0 > $T(0)) ? 0u : uint($0))";
    case DType::u64:
      return "($0 >= $T(18446744073709551616.0) ? 0xffffffffffffffffUL : !($0 > $T(0)) ? "
             "uint64_t(0) : uint64_t($0))";
    default:
      return "($0 >= $T(9223372036854775808.0) ? 0x7fffffffffffffffL : $0 <= "
             "$T(-9223372036854775808.0) ? int64_t(0x8000000000000000L) : isnan($0) ? int64_t(0) : "
             "int64_t($0))";
  }
}

ScalarGlsl cast_glsl(DType from, DType to) {
  if (to == DType::boolean) return {"uint(!($0 == $T(0)))"};
  if (is_float(to) || !is_float(from)) return {"$R($0)"};
  return {saturating(to)};
}

constexpr ScalarFunction functions[] = {
    // Floats to integers truncate toward zero, saturate and take NaN to 0; integers wrap; bool is
    // x ≠ 0; f64 becomes f16 and bf16 by way of f32.
    {.name = "cast",
     .summary = "a in another dtype; a float that becomes an integer is truncated and limited to "
                "its range, and NaN becomes 0",
     .takes = ScalarOperands::any,
     .result = ScalarResult::free,
     .cost_ns = 0.1,
     .glsl = &cast_glsl,
     .reference = [](const double* x, DType) { return x[0]; }},
    {.name = "copy",
     .summary = "a",
     .takes = ScalarOperands::any,
     .closed = true,
     .glsl = [](DType, DType) { return ScalarGlsl{"$0"}; },
     .reference = [](const double* x, DType) { return x[0]; }},
};

}  // namespace

std::span<const ScalarFunction> conversion() noexcept { return functions; }

}  // namespace stoker::kernels::scalar
