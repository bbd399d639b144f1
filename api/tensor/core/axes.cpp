#include "stoker/api/tensor/core/axes.hpp"

#include <algorithm>
#include <numeric>

namespace stoker::detail {

std::size_t checked_axis(std::string_view op, std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < -count || axis >= count)
    throw Error{std::string{op},
                ErrorCode::invalid_parameter,
                "axis " + std::to_string(axis) + " is out of range for a tensor of rank " +
                    std::to_string(rank),
                {{"axis", std::to_string(axis)}, {"rank", std::to_string(rank)}}};
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

Axes checked_axes(std::string_view op, const std::optional<Axes>& axes, std::size_t rank) {
  Axes all(rank);
  std::iota(all.begin(), all.end(), 0);
  if (!axes) return all;
  Axes checked;
  for (const std::int64_t axis : *axes)
    checked.push_back(static_cast<std::int64_t>(checked_axis(op, axis, rank)));
  std::ranges::sort(checked);
  if (std::ranges::adjacent_find(checked) != checked.end())
    throw Error{std::string{op}, ErrorCode::invalid_parameter, "an axis is given twice"};
  return checked;
}

}  // namespace stoker::detail
