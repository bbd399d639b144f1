// How an element of a value is found: in which memory, or as what number.
//
// Views, reshapes, constants and positions have no memory of their own unless a kernel wants one; who
// reads them reads through them.
#pragma once

#include <array>
#include <optional>

#include "stoker/pipeline/tensor/program/program.hpp"

namespace stoker::expr {

struct Access {
  enum class Source : std::uint8_t { stored, constant, index } source = Source::stored;
  /// Stored: the value whose memory it is. Constant, index: the leaf.
  Ref base;
  /// In elements of the base's dense row-major order; over the axes of the value's own shape.
  std::int64_t offset = 0;
  std::array<std::int64_t, Shape::max_rank> strides{};
  friend bool operator==(const Access&, const Access&) noexcept = default;
};

/// The elements in their own order.
[[nodiscard]] Access dense(Ref base, const Shape& shape,
                           Access::Source source = Access::Source::stored);
/// `access` of a value of shape `from`, read as shape `to`; nothing if that takes a copy.
[[nodiscard]] std::optional<Access> reshaped(const Access& access, const Shape& from,
                                             const Shape& to);
/// `access` read through a view whose result has `rank` axes.
[[nodiscard]] Access viewed(const Access& access, const View& view, std::size_t rank);
/// `access` of a value of shape `from` for each element of `to`, to which it broadcasts.
[[nodiscard]] Access stretched(const Access& access, const Shape& from, const Shape& to);

/// How to read any value of a program. Where a reshape cannot be read through, it becomes the base: it
/// must be stored, as every other base that is no leaf.
[[nodiscard]] Access access_of(const Program& program, Ref ref);

}  // namespace stoker::expr
