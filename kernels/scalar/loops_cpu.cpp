#include "stoker/kernels/scalar/loops.hpp"

namespace stoker::kernels::scalar::STOKER_ISA {

ScalarLoop find_loop(std::string_view name, DType operand, DType result) noexcept {
  const auto at = static_cast<std::size_t>(operand);
  if (name == "cast") return cast_loops(result).by_operand[at];
  for (const auto& family :
       {arithmetic_loops(), comparison_loops(), logic_loops(), bits_loops(), exponential_loops(),
        trigonometric_loops(), error_function_loops(), conversion_loops()})
    for (const LoopSet& set : family)
      if (set.name == name) return set.by_operand[at];
  return nullptr;
}

}  // namespace stoker::kernels::scalar::STOKER_ISA
