#include "stoker/kernels/scalar/families.hpp"

namespace stoker::kernels::scalar {
namespace {

// What is not 0 is true, NaN included.
constexpr ScalarFunction functions[] = {
    {.name = "logical_and",
     .summary = "1 where a and b both differ from 0, else 0",
     .arity = 2,
     .takes = ScalarOperands::any,
     .result = ScalarResult::truth,
     .glsl = [](DType, DType) { return ScalarGlsl{"uint(!($0 == $T(0)) && !($1 == $T(0)))"}; },
     .reference = [](const double* x, DType) { return double(x[0] != 0 && x[1] != 0); }},
    {.name = "logical_or",
     .summary = "1 where a or b or both differ from 0, else 0",
     .arity = 2,
     .takes = ScalarOperands::any,
     .result = ScalarResult::truth,
     .glsl = [](DType, DType) { return ScalarGlsl{"uint(!($0 == $T(0)) || !($1 == $T(0)))"}; },
     .reference = [](const double* x, DType) { return double(x[0] != 0 || x[1] != 0); }},
    {.name = "logical_xor",
     .summary = "1 where exactly one of a and b differs from 0, else 0",
     .arity = 2,
     .takes = ScalarOperands::any,
     .result = ScalarResult::truth,
     .glsl = [](DType, DType) { return ScalarGlsl{"uint(($0 == $T(0)) != ($1 == $T(0)))"}; },
     .reference = [](const double* x, DType) { return double((x[0] != 0) != (x[1] != 0)); }},
    {.name = "logical_not",
     .summary = "1 where a is 0, else 0",
     .takes = ScalarOperands::any,
     .result = ScalarResult::truth,
     .glsl = [](DType, DType) { return ScalarGlsl{"uint($0 == $T(0))"}; },
     .reference = [](const double* x, DType) { return double(x[0] == 0); }},
    // condition, value where it is not 0, value where it is
    {.name = "select",
     .summary = "b where a is not 0, else c",
     .arity = 3,
     .takes = ScalarOperands::any,
     .condition = true,
     .closed = true,
     .glsl = [](DType, DType) { return ScalarGlsl{"($0 != 0u ? $1 : $2)"}; },
     .reference = [](const double* x, DType) { return x[0] != 0 ? x[1] : x[2]; }},
};

}  // namespace

std::span<const ScalarFunction> logic() noexcept { return functions; }

}  // namespace stoker::kernels::scalar
