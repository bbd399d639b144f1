// Parts of a tensor by position, as in x[i]:
//
//     x[0]                       the first row
//     x[{0, -1}]                 the last element of the first row
//     x[{every, Range{1, 4}}]    columns 1, 2 and 3
//     x[{Range{.start = -2}, i}] in the last two rows the element at i, a scalar tensor
//
// One entry for each axis, starting with the first; further axes are kept whole. A number removes
// its axis, a range keeps it. Negative numbers count from the end. Numbers out of range throw; a
// scalar tensor, whose value is known only later, is clamped.
//
// Threads: any. Errors are thrown: invalid_parameter, dtype_mismatch.
#pragma once

#include <concepts>
#include <initializer_list>
#include <limits>
#include <span>
#include <variant>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// Every step-th index from start up to, but not including, stop.
struct Range {
  static constexpr std::int64_t end = std::numeric_limits<std::int64_t>::max();
  std::int64_t start = 0;
  std::int64_t stop = end;  ///< `end`: to the end of the axis
  std::int64_t step = 1;    ///< 1 or more
};

/// The whole axis.
inline constexpr Range every{};

/// An index into one axis: a number, a range or a scalar tensor.
class Index {
 public:
  template <std::integral T>
  Index(T position)  // NOLINT(google-explicit-constructor)
      : what_{static_cast<std::int64_t>(position)} {}
  Index(const Range& range) : what_{range} {}         // NOLINT(google-explicit-constructor)
  Index(const Tensor& position) : what_{position} {}  // NOLINT(google-explicit-constructor)
  using What = std::variant<std::int64_t, Range, Tensor>;
  [[nodiscard]] const What& what() const noexcept { return what_; }

 private:
  What what_;
};

/// The part of x selected by the indices; the same as x[…].
[[nodiscard]] Tensor part(const Tensor& x, std::span<const Index> indices);

}  // namespace stoker
