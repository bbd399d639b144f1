#include <bit>
#include <cmath>
#include <cstdint>

#include "stoker/kernels/scalar/families.hpp"

namespace stoker::kernels::scalar {
namespace {

/// Expressions that differ in the width only. Counts outside it shift everything out.
struct WidthTexts {
  std::string_view left;
  std::string_view right;
  std::string_view zeros;
};

constexpr std::string_view population_text = R"(uint ones_of(uint64_t x) {
  return bitCount(uint(x & uint64_t(0xffffffffu))) + bitCount(uint(x >> 32));
}
)";
constexpr std::string_view zeros_text = R"(int zeros_of(uint x) { return 31 - findMSB(x); }
)";
constexpr std::string_view zeros_64_text = R"(int zeros_of(uint64_t x) {
  uint upper = uint(x >> 32);
  return upper != 0u ? 31 - findMSB(upper) : 63 - findMSB(uint(x & uint64_t(0xffffffffu)));
}
)";

constexpr WidthTexts texts_of(std::size_t bytes) {
  switch (bytes) {
    case 1:
      return {"($1 < $T(0) || $1 >= $T(8) ? $T(0) : $0 << $1)",
              "($0 >> ($1 < $T(0) || $1 >= $T(8) ? $T(7) : $1))",
              "$T(zeros_of(uint($0) & 255u) - 24)"};
    case 2:
      return {"($1 < $T(0) || $1 >= $T(16) ? $T(0) : $0 << $1)",
              "($0 >> ($1 < $T(0) || $1 >= $T(16) ? $T(15) : $1))",
              "$T(zeros_of(uint($0) & 65535u) - 16)"};
    case 8:
      return {"($1 < $T(0) || $1 >= $T(64) ? $T(0) : $0 << $1)",
              "($0 >> ($1 < $T(0) || $1 >= $T(64) ? $T(63) : $1))", "$T(zeros_of(uint64_t($0)))"};
    default:
      return {"($1 < $T(0) || $1 >= $T(32) ? $T(0) : $0 << $1)",
              "($0 >> ($1 < $T(0) || $1 >= $T(32) ? $T(31) : $1))", "$T(zeros_of(uint($0)))"};
  }
}

constexpr std::string_view unsigned_right(std::size_t bytes) {
  switch (bytes) {
    case 1: return "($1 >= $T(8) ? $T(0) : $0 >> $1)";
    case 2: return "($1 >= $T(16) ? $T(0) : $0 >> $1)";
    case 8: return "($1 >= $T(64) ? $T(0) : $0 >> $1)";
    default: return "($1 >= $T(32) ? $T(0) : $0 >> $1)";
  }
}

std::uint64_t bits_of(double x, DType dtype) {
  const auto width = static_cast<int>(8 * size_of(dtype));
  const auto whole = x < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(x))
                           : static_cast<std::uint64_t>(x);
  return width == 64 ? whole : whole & ((std::uint64_t{1} << width) - 1);
}

/// The same bits as a number of that dtype.
double value_of(std::uint64_t bits, DType dtype) {
  const auto unused = static_cast<int>(64 - 8 * size_of(dtype));
  if (!is_signed(dtype)) return static_cast<double>(bits << unused >> unused);
  return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
}

double left_shift(const double* x, DType dtype) {
  const bool inside = x[1] >= 0 && x[1] < 8.0 * static_cast<double>(size_of(dtype));
  return inside ? value_of(bits_of(x[0], dtype) << static_cast<int>(x[1]), dtype) : 0;
}

double right_shift(const double* x, DType dtype) {
  const bool inside = x[1] >= 0 && x[1] < 8.0 * static_cast<double>(size_of(dtype));
  if (!inside) return x[0] < 0 ? -1 : 0;
  return std::floor(std::ldexp(x[0], -static_cast<int>(x[1])));
}

constexpr ScalarFunction functions[] = {
    {.name = "bitwise_and",
     .summary = "a & b",
     .arity = 2,
     .takes = ScalarOperands::integers,
     .glsl = [](DType, DType) { return ScalarGlsl{"$0 & $1"}; },
     .reference =
         [](const double* x, DType dtype) {
           return value_of(bits_of(x[0], dtype) & bits_of(x[1], dtype), dtype);
         }},
    {.name = "bitwise_or",
     .summary = "a | b",
     .arity = 2,
     .takes = ScalarOperands::integers,
     .glsl = [](DType, DType) { return ScalarGlsl{"$0 | $1"}; },
     .reference =
         [](const double* x, DType dtype) {
           return value_of(bits_of(x[0], dtype) | bits_of(x[1], dtype), dtype);
         }},
    {.name = "bitwise_xor",
     .summary = "a ^ b",
     .arity = 2,
     .takes = ScalarOperands::integers,
     .glsl = [](DType, DType) { return ScalarGlsl{"$0 ^ $1"}; },
     .reference =
         [](const double* x, DType dtype) {
           return value_of(bits_of(x[0], dtype) ^ bits_of(x[1], dtype), dtype);
         }},
    {.name = "bitwise_not",
     .summary = "~a",
     .takes = ScalarOperands::integers,
     .glsl = [](DType, DType) { return ScalarGlsl{"~$0"}; },
     .reference = [](const double* x,
                     DType dtype) { return value_of(~bits_of(x[0], dtype), dtype); }},
    // A count below 0 or from the width on leaves 0, or the sign of a signed right shift.
    {.name = "left_shift",
     .summary = "a << b; 0 if b is negative or at least the number of bits of a",
     .arity = 2,
     .takes = ScalarOperands::integers,
     .cost_ns = 0.1,
     .glsl = [](DType operand, DType) { return ScalarGlsl{texts_of(size_of(operand)).left}; },
     .reference = &left_shift},
    {.name = "right_shift",
     .summary = "a >> b; keeps the sign of a if a is signed",
     .arity = 2,
     .takes = ScalarOperands::integers,
     .cost_ns = 0.1,
     .glsl =
         [](DType operand, DType) {
           return ScalarGlsl{is_signed(operand) ? texts_of(size_of(operand)).right
                                                : unsigned_right(size_of(operand))};
         },
     .reference = &right_shift},
    {.name = "population_count",
     .summary = "the number of bits of a that are 1",
     .takes = ScalarOperands::integers,
     .cost_ns = 0.5,
     .glsl = [](DType operand, DType) -> ScalarGlsl {
       switch (size_of(operand)) {
         case 1: return {"$T(bitCount(uint($0) & 255u))"};
         case 2: return {"$T(bitCount(uint($0) & 65535u))"};
         case 8: return {"$T(ones_of(uint64_t($0)))", {population_text}};
         default: return {"$T(bitCount($0))"};
       }
     },
     .reference = [](const double* x,
                     DType dtype) { return double(std::popcount(bits_of(x[0], dtype))); }},
    {.name = "count_leading_zeros",
     .summary = "the number of 0 bits above the highest 1 bit of a",
     .takes = ScalarOperands::integers,
     .cost_ns = 0.5,
     .glsl =
         [](DType operand, DType) {
           return ScalarGlsl{texts_of(size_of(operand)).zeros,
                             {size_of(operand) == 8 ? zeros_64_text : zeros_text}};
         },
     .reference =
         [](const double* x, DType dtype) {
           return double(std::countl_zero(bits_of(x[0], dtype))) - 64 +
                  8.0 * static_cast<double>(size_of(dtype));
         }},
};

}  // namespace

std::span<const ScalarFunction> bits() noexcept { return functions; }

}  // namespace stoker::kernels::scalar
