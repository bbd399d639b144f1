#include "stoker/kernels/fused/layout.hpp"

namespace stoker::kernels::fused {

std::vector<bool> needed_values(const FusedProgram& program) {
  std::vector<bool> needed(program.first_result() + program.code.size());
  for (const auto output : program.outputs) needed[output] = true;
  for (std::size_t i = program.code.size(); i-- > 0;) {
    if (!needed[program.first_result() + i]) continue;
    const auto& one = program.code[i];
    for (std::size_t k = 0; k < one.function->arity; ++k) needed[one.operands[k]] = true;
  }
  return needed;
}

bool Layout::dense(std::size_t input) const noexcept {
  std::int64_t expected = 1;
  for (std::size_t axis = rank; axis-- > 0; expected *= extents[axis])
    if (strides[input][axis] != expected) return false;
  return true;
}

std::int64_t Layout::period(std::size_t input) const noexcept {
  std::size_t axis = 0;
  while (axis < rank && strides[input][axis] == 0) ++axis;
  std::int64_t product = 1;
  for (; axis < rank; ++axis) product *= extents[axis];
  return product;
}

Layout layout_of(const FusedProgram& program, const std::vector<bool>& needed) {
  Layout layout;
  layout.strides.resize(program.inputs.size());
  const auto& inputs = program.inputs;
  for (std::size_t axis = 0; axis < program.shape.rank(); ++axis) {
    const std::int64_t extent = program.shape[axis];
    if (extent == 1) continue;
    bool joins = layout.rank > 0;
    for (std::size_t k = 0; k < inputs.size() && joins; ++k)
      joins = !needed[k] || layout.strides[k][layout.rank - 1] == inputs[k].strides[axis] * extent;
    if (joins)
      layout.extents[layout.rank - 1] *= extent;
    else
      layout.extents[layout.rank++] = extent;
    for (std::size_t k = 0; k < inputs.size(); ++k)
      layout.strides[k][layout.rank - 1] = inputs[k].strides[axis];
  }
  return layout;
}

}  // namespace stoker::kernels::fused
