#include "stoker/runtime/base/shape.hpp"

#include <algorithm>

namespace stoker {
namespace {
/// The bytes of as many elements of the widest dtype still are a number.
constexpr std::int64_t max_elements = std::int64_t{1} << 58;

/// Extents of zero are skipped here, so [0, 2^40, 2^40] counts as its non-empty sibling.
bool too_many(std::span<const std::int64_t> extents) noexcept {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents)
    if (__builtin_mul_overflow(product, std::max<std::int64_t>(extent, 1), &product) ||
        product > max_elements)
      return true;
  return false;
}

}  // namespace

Shape::Shape(std::initializer_list<std::int64_t> extents) {
  *this = make(std::span{extents.begin(), extents.size()});
}

Shape Shape::make(std::span<const std::int64_t> extents, std::string_view op) {
  return try_make(extents, op).value();
}

Result<Shape> Shape::try_make(std::span<const std::int64_t> extents, std::string_view op) {
  if (extents.size() > max_rank)
    return Error{std::string{op},
                 ErrorCode::invalid_argument,
                 "rank is beyond the maximum",
                 {{"rank", std::to_string(extents.size())}, {"max", std::to_string(max_rank)}}};
  Shape shape;
  for (const std::int64_t extent : extents) {
    if (extent < 0)
      return Error{std::string{op},
                   ErrorCode::invalid_argument,
                   "an extent is negative",
                   {{"extent", std::to_string(extent)}}};
    shape.extents_[shape.rank_++] = extent;
  }
  if (too_many(extents))
    return Error{std::string{op},
                 ErrorCode::invalid_argument,
                 "too many elements: " + shape.to_string(),
                 {{"shape", shape.to_string()}, {"max", std::to_string(max_elements)}}};
  return shape;
}

std::int64_t Shape::elements() const noexcept {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents()) product *= extent;
  return product;
}

std::array<std::int64_t, Shape::max_rank> Shape::strides() const noexcept {
  std::array<std::int64_t, max_rank> result{};
  std::int64_t stride = 1;
  for (std::size_t axis = rank_; axis-- > 0;) {
    result[axis] = stride;
    stride *= extents_[axis];
  }
  return result;
}

Shape Shape::with(std::size_t axis, std::int64_t extent) const {
  Shape result = *this;
  result.extents_[axis] = extent;
  return make(result.extents());
}

Shape Shape::without(std::size_t axis) const noexcept {
  Shape result = *this;
  std::copy(end() - (rank_ - axis) + 1, end(),
            result.extents_.begin() + static_cast<std::ptrdiff_t>(axis));
  result.extents_[--result.rank_] = 0;
  return result;
}

Shape Shape::appended(std::int64_t extent) const {
  std::array<std::int64_t, max_rank + 1> longer{};
  std::ranges::copy(extents(), longer.begin());
  longer[rank_] = extent;
  return make(std::span{longer}.first(rank_ + std::size_t{1}));
}

std::string Shape::to_string() const {
  std::string text = "[";
  for (std::size_t axis = 0; axis < rank_; ++axis) {
    if (axis != 0) text.push_back(',');
    text += std::to_string(extents_[axis]);
  }
  return text + "]";
}

bool operator==(const Shape& a, const Shape& b) noexcept {
  return std::ranges::equal(a.extents(), b.extents());
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) noexcept {
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  std::array<std::int64_t, Shape::max_rank> extents{};
  std::ranges::copy(longer.extents(), extents.begin());
  const std::size_t offset = longer.rank() - shorter.rank();
  for (std::size_t axis = 0; axis < shorter.rank(); ++axis) {
    std::int64_t& x = extents[offset + axis];
    const std::int64_t y = shorter[axis];
    if (x != y && x != 1 && y != 1) return std::nullopt;
    if (x == 1) x = y;
  }
  const std::span all{extents.data(), longer.rank()};
  if (too_many(all)) return std::nullopt;
  return Shape::make(all);
}

std::string TensorSpec::to_string() const {
  return std::string{stoker::to_string(dtype)} + shape.to_string();
}

bool same_memory(const TensorSpec& a, const TensorSpec& b) noexcept {
  if (a == b) return true;
  if (is_complex(b.dtype) && !is_complex(a.dtype)) return same_memory(b, a);
  const std::size_t rank = a.shape.rank();
  if (!is_complex(a.dtype) || component_of(a.dtype) != b.dtype || b.shape.rank() != rank + 1 ||
      b.shape[rank] != 2)
    return false;
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (a.shape[axis] != b.shape[axis]) return false;
  return true;
}

}  // namespace stoker
