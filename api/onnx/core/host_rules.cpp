#include "stoker/api/onnx/core/host_rules.hpp"

namespace stoker::onnx {

std::vector<std::int64_t> broadcast_positions(const Shape& from, const Shape& to) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(to.elements()));
  const auto strides = from.strides();
  const std::size_t before = to.rank() - from.rank();
  for (std::size_t i = 0; i < positions.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t position = 0;
    for (std::size_t axis = to.rank(); axis-- > 0;) {
      const std::int64_t at = rest % to[axis];
      rest /= to[axis];
      if (axis >= before && from[axis - before] != 1) position += at * strides[axis - before];
    }
    positions[i] = position;
  }
  return positions;
}

Shape broadcast_shape(const Call& call) {
  Shape shape = call.shape(0);
  for (std::size_t i = 1; i < call.count(); ++i) {
    const auto both = broadcast(shape, call.shape(i));
    if (!both)
      call.refuse(ErrorCode::shape_mismatch,
                  "operands of " + shape.to_string() + " and " + call.shape(i).to_string());
    shape = *both;
  }
  return shape;
}

bool is_small(const Shape& shape) noexcept { return shape.elements() <= std::int64_t{1} << 16; }

void check_host_count(const Call& call, std::int64_t count) {
  constexpr std::int64_t most = std::int64_t{1} << 26;
  if (count > most)
    call.refuse(ErrorCode::limit_exceeded, "the host would compute " + std::to_string(count) +
                                               " numbers, more than " + std::to_string(most));
}

bool has_host_arithmetic(ElementType type) noexcept {
  switch (type) {
    case ElementType::f32:
    case ElementType::f64:
    case ElementType::s8:
    case ElementType::s16:
    case ElementType::s32:
    case ElementType::s64:
    case ElementType::u8:
    case ElementType::u16:
    case ElementType::u32:
    case ElementType::boolean: return true;
    default: return false;
  }
}

}  // namespace stoker::onnx
