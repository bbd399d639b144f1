#include "stoker/api/tensor/core/names.hpp"

#include <algorithm>

#include "stoker/runtime/base/error.hpp"

namespace stoker {

AxisNames::AxisNames(std::vector<std::string> names) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!names[i].empty() &&
        std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
            names.begin() + static_cast<std::ptrdiff_t>(i))
      throw Error{"names",
                  ErrorCode::invalid_argument,
                  "two axes are called '" + names[i] + "'",
                  {{"name", names[i]}}};
  const bool any =
      std::ranges::any_of(names, [](const std::string& name) { return !name.empty(); });
  if (any) list_ = std::make_shared<const std::vector<std::string>>(std::move(names));
}

const std::string& AxisNames::operator[](std::size_t axis) const noexcept {
  static const std::string no_name;
  return list_ ? (*list_)[axis] : no_name;
}

AxisNames AxisNames::chosen(std::span<const std::int64_t> axes) const {
  if (none()) return {};
  std::vector<std::string> names;
  for (const std::int64_t axis : axes)
    names.push_back(axis < 0 ? std::string{} : (*this)[static_cast<std::size_t>(axis)]);
  return AxisNames{std::move(names)};
}

AxisNames AxisNames::without(std::span<const std::int64_t> axes, std::size_t rank) const {
  if (none()) return {};
  std::vector<std::int64_t> left;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(rank); ++axis)
    if (std::ranges::find(axes, axis) == axes.end()) left.push_back(axis);
  return chosen(left);
}

AxisNames AxisNames::merged(std::string_view op, const AxisNames& a, std::size_t a_rank,
                            const AxisNames& b, std::size_t b_rank) {
  if (a.none() && b.none()) return {};
  const std::size_t rank = std::max(a_rank, b_rank);
  std::vector<std::string> names(rank);
  const auto of = [&](const AxisNames& one, std::size_t one_rank, std::size_t axis) {
    const std::size_t missing = rank - one_rank;
    return axis < missing ? std::string{} : one[axis - missing];
  };
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::string left = of(a, a_rank, axis);
    const std::string right = of(b, b_rank, axis);
    if (!left.empty() && !right.empty() && left != right)
      throw Error{std::string{op},
                  ErrorCode::invalid_argument,
                  "an axis called '" + left + "' meets one called '" + right + "'",
                  {{"lhs", left}, {"rhs", right}}};
    names[axis] = left.empty() ? right : left;
  }
  return AxisNames{std::move(names)};
}

bool operator==(const AxisNames& a, const AxisNames& b) noexcept {
  if (a.list_ == b.list_) return true;
  return a.list_ && b.list_ && *a.list_ == *b.list_;
}

}  // namespace stoker
