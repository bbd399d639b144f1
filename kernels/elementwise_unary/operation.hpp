// The operations of this family.
#pragma once

#include <cstdint>
#include <string_view>

namespace stoker::kernels::elementwise_unary {

/// The order is that of the spec constant `operation` in unary.glsl.
enum class Operation : std::uint8_t { relu, sigmoid, tanh, exp, log, sqrt, abs, neg };

struct OperationName {
  Operation operation;
  std::string_view kernel;
  std::string_view summary;
  bool integers;  ///< defined for integers too
};

inline constexpr OperationName operations[] = {
    {Operation::relu, "relu", "y = max(x, 0); NaN stays NaN", true},
    {Operation::sigmoid, "sigmoid", "y = 1 / (1 + e^-x)", false},
    {Operation::tanh, "tanh", "y = tanh x", false},
    {Operation::exp, "exp", "y = e^x", false},
    {Operation::log, "log", "y = ln x; -inf at 0, NaN below", false},
    {Operation::sqrt, "sqrt", "y = √x; NaN below 0", false},
    {Operation::abs, "abs", "y = |x|; the least integer stays as it is", true},
    {Operation::neg, "neg", "y = -x; integers wrap", true},
};

}  // namespace stoker::kernels::elementwise_unary
