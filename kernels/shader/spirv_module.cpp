#include "stoker/kernels/shader/spirv_module.hpp"

#include <array>

namespace stoker {

bool needs_descriptors(std::span<const std::uint32_t> spirv) noexcept {
  constexpr std::uint32_t op_function = 54;
  constexpr std::uint32_t op_variable = 59;
  // The storage classes that a shader has by itself: Input, Workgroup, Private, Function, PushConstant.
  constexpr std::array own = {1U, 4U, 6U, 7U, 9U};
  bool found = false;
  for_each_instruction(spirv, [&](std::span<const std::uint32_t> instruction) {
    if (spirv_op(instruction) == op_function) return false;  // the global variables are over
    if (spirv_op(instruction) == op_variable && instruction.size() > 3)
      found |= std::ranges::find(own, instruction[3]) == own.end();
    return !found;
  });
  return found;
}

}  // namespace stoker
