#include "stoker/kernels/strided_walk.hpp"

namespace stoker {

bool StridedWalk::dense(std::size_t operand) const noexcept {
  std::int64_t expected = 1;
  for (std::size_t axis = rank; axis-- > 0; expected *= extents[axis])
    if (strides[operand][axis] != expected) return false;
  return true;
}

bool StridedWalk::single(std::size_t operand) const noexcept { return period(operand) == 1; }

std::int64_t StridedWalk::period(std::size_t operand) const noexcept {
  std::size_t axis = 0;
  while (axis < rank && strides[operand][axis] == 0) ++axis;
  std::int64_t product = 1;
  for (; axis < rank; ++axis) product *= extents[axis];
  return product;
}

StridedWalk strided_walk(const Shape& output, std::span<const Strides> operands) noexcept {
  StridedWalk walk;
  for (std::size_t axis = 0; axis < output.rank(); ++axis) {
    const std::int64_t extent = output[axis];
    if (extent == 1) continue;
    bool joins = walk.rank > 0;
    for (std::size_t k = 0; k < operands.size() && joins; ++k)
      joins = walk.strides[k][walk.rank - 1] == operands[k][axis] * extent;
    if (joins)
      walk.extents[walk.rank - 1] *= extent;
    else
      walk.extents[walk.rank++] = extent;
    for (std::size_t k = 0; k < operands.size(); ++k)
      walk.strides[k][walk.rank - 1] = operands[k][axis];
  }
  return walk;
}

Strides broadcast_strides(const Shape& operand, const Shape& output) noexcept {
  const Strides dense = operand.strides();
  const std::size_t missing = output.rank() - operand.rank();
  Strides strides{};
  for (std::size_t axis = 0; axis < operand.rank(); ++axis)
    strides[missing + axis] = operand[axis] == 1 ? 0 : dense[axis];
  return strides;
}

}  // namespace stoker
