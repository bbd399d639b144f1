#include "stoker/api/tensor/views/split.hpp"

#include <cmath>

#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker {

std::pair<Tensor, Tensor> split_at(const Tensor& x, double fraction, std::int64_t axis) {
  const std::size_t which = detail::checked_axis("split_at", axis, x.rank());
  if (!(fraction > 0 && fraction < 1))
    throw Error{"split_at",
                ErrorCode::invalid_parameter,
                "expected a fraction between 0 and 1, got " + std::to_string(fraction),
                {{"got", std::to_string(fraction)}}};
  const auto extent = static_cast<double>(x.shape()[which]);
  return split(x, static_cast<std::int64_t>(std::ceil(extent * fraction)), axis);
}

Tensor flatten(const Tensor& x, const Axes& axes) {
  const Axes together = detail::checked_axes("flatten", axes, x.rank());
  if (together.empty()) return x;
  if (together.back() - together.front() + 1 != static_cast<std::int64_t>(together.size()))
    throw Error{"flatten",
                ErrorCode::invalid_parameter,
                "the axes of " + x.spec().to_string() + " do not stand side by side",
                {{"input", x.spec().to_string()}}};
  std::vector<std::int64_t> extents;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(x.rank()); ++axis) {
    const std::int64_t extent = x.shape()[static_cast<std::size_t>(axis)];
    if (axis > together.front() && axis <= together.back())
      extents.back() *= extent;
    else
      extents.push_back(extent);
  }
  return reshape(x, Shape::make(extents, "flatten"));
}

}  // namespace stoker
