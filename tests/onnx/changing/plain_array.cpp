#include "stoker/tests/onnx/changing/plain_array.hpp"

#include <algorithm>
#include <stdexcept>

namespace stoker::onnx {

std::int64_t PlainArray::at(const PlainExtents& index) const {
  std::size_t place = 0;
  const std::size_t more = index.size() - shape.size();
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    place = place * static_cast<std::size_t>(shape[axis]) +
            static_cast<std::size_t>(shape[axis] == 1 ? 0 : index.at(axis + more));
  return data.at(place);
}

std::string PlainArray::to_string() const {
  std::string text = std::string{onnx::to_string(type)} + '[';
  for (const std::int64_t extent : shape)
    text += (text.back() == '[' ? "" : ",") + std::to_string(extent);
  text += "] =";
  for (const std::int64_t number : data) text += ' ' + std::to_string(number);
  return text;
}

std::int64_t product_of(const PlainExtents& extents) {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents) product *= extent;
  return product;
}

std::int64_t plain_axis(std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank) throw std::out_of_range{"an axis"};
  return axis < 0 ? axis + rank : axis;
}

PlainArray plain_vector(std::vector<std::int64_t> data) {
  const auto size = static_cast<std::int64_t>(data.size());
  return {ElementType::s64, {size}, std::move(data)};
}

PlainArray plain_scalar(std::int64_t number, ElementType type) { return {type, {}, {number}}; }

PlainExtents broadcast_of(const PlainArrays& arrays) {
  PlainExtents joined;
  for (const PlainArray& array : arrays) {
    if (!array.is_given()) continue;
    if (array.shape.size() > joined.size())
      joined.insert(joined.begin(), array.shape.size() - joined.size(), 1);
    const std::size_t more = joined.size() - array.shape.size();
    for (std::size_t axis = 0; axis < array.shape.size(); ++axis) {
      std::int64_t& extent = joined[axis + more];
      if (extent == 1) extent = array.shape[axis];
      if (array.shape[axis] != 1 && array.shape[axis] != extent)
        throw std::invalid_argument{"extents that do not fit"};
    }
  }
  return joined;
}

}  // namespace stoker::onnx
