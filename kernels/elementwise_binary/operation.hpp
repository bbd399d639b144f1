// The four operations of this family.
#pragma once

#include <cstdint>
#include <string_view>

namespace stoker::kernels::elementwise_binary {

/// The order is that of the spec constant `operation` in the shaders.
enum class Operation : std::uint8_t { add, sub, mul, div };

struct OperationName {
  Operation operation;
  std::string_view kernel;
  std::string_view alias;
  std::string_view summary;
};

inline constexpr OperationName operations[] = {
    {Operation::add, "elementwise_add", "add", "y = a + b, broadcast; integers wrap"},
    {Operation::sub, "elementwise_sub", "sub", "y = a - b, broadcast; integers wrap"},
    {Operation::mul, "elementwise_mul", "mul", "y = a * b, broadcast; integers wrap"},
    {Operation::div, "elementwise_div", "div",
     "y = a / b, broadcast; integers truncate toward zero, and x / 0 is 0"},
};

}  // namespace stoker::kernels::elementwise_binary
