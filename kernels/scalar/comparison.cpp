#include <cmath>

#include "stoker/kernels/scalar/families.hpp"

namespace stoker::kernels::scalar {
namespace {

// A comparison with NaN is 0, but for not_equal.
constexpr ScalarFunction functions[] = {
    {.name = "equal",
     .summary = "a == b",
     .arity = 2,
     .takes = ScalarOperands::any,
     .result = ScalarResult::truth,
     .glsl = [](DType, DType) { return ScalarGlsl{"uint($0 == $1)"}; },
     .reference = [](const double* x, DType) { return double(x[0] == x[1]); }},
    {.name = "not_equal",
     .summary = "a != b; 1 if either is NaN",
     .arity = 2,
     .takes = ScalarOperands::any,
     .result = ScalarResult::truth,
     .glsl = [](DType, DType) { return ScalarGlsl{"uint(!($0 == $1))"}; },
     .reference = [](const double* x, DType) { return double(x[0] != x[1]); }},
    {.name = "less",
     .summary = "a < b",
     .arity = 2,
     .takes = ScalarOperands::any,
     .result = ScalarResult::truth,
     .glsl = [](DType, DType) { return ScalarGlsl{"uint($0 < $1)"}; },
     .reference = [](const double* x, DType) { return double(x[0] < x[1]); }},
    {.name = "less_equal",
     .summary = "a <= b",
     .arity = 2,
     .takes = ScalarOperands::any,
     .result = ScalarResult::truth,
     .glsl = [](DType, DType) { return ScalarGlsl{"uint($0 <= $1)"}; },
     .reference = [](const double* x, DType) { return double(x[0] <= x[1]); }},
    {.name = "greater",
     .summary = "a > b",
     .arity = 2,
     .takes = ScalarOperands::any,
     .result = ScalarResult::truth,
     .glsl = [](DType, DType) { return ScalarGlsl{"uint($0 > $1)"}; },
     .reference = [](const double* x, DType) { return double(x[0] > x[1]); }},
    {.name = "greater_equal",
     .summary = "a >= b",
     .arity = 2,
     .takes = ScalarOperands::any,
     .result = ScalarResult::truth,
     .glsl = [](DType, DType) { return ScalarGlsl{"uint($0 >= $1)"}; },
     .reference = [](const double* x, DType) { return double(x[0] >= x[1]); }},
    {.name = "is_nan",
     .summary = "1 where a is NaN, else 0",
     .takes = ScalarOperands::any,
     .result = ScalarResult::truth,
     .glsl = [](DType operand,
                DType) { return ScalarGlsl{is_float(operand) ? "uint(isnan($0))" : "0u"}; },
     .reference = [](const double* x, DType) { return double(std::isnan(x[0])); }},
    {.name = "is_infinity",
     .summary = "1 where a is infinite, else 0",
     .takes = ScalarOperands::any,
     .result = ScalarResult::truth,
     .glsl = [](DType operand,
                DType) { return ScalarGlsl{is_float(operand) ? "uint(isinf($0))" : "0u"}; },
     .reference = [](const double* x, DType) { return double(std::isinf(x[0])); }},
};

}  // namespace

std::span<const ScalarFunction> comparison() noexcept { return functions; }

}  // namespace stoker::kernels::scalar
