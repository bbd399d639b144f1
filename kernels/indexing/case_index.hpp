// What the references of the indexing kernels share. Used by cases.cpp files only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "stoker/kernels/cases.hpp"

namespace stoker::cases {

/// The coordinates of a shape in row-major order, one after the other.
class Coordinates {
 public:
  explicit Coordinates(const Shape& shape)
      : extents_{shape.begin(), shape.end()}, at_(shape.rank()) {}

  void next() {
    for (std::size_t axis = at_.size(); axis-- > 0;) {
      if (++at_[axis] < extents_[axis]) return;
      at_[axis] = 0;
    }
  }
  [[nodiscard]] const std::vector<std::int64_t>& at() const { return at_; }

 private:
  std::vector<std::int64_t> extents_;
  std::vector<std::int64_t> at_;
};

/// Where `at` lies in a dense tensor of that shape.
[[nodiscard]] inline std::size_t position(const Shape& shape, const std::vector<std::int64_t>& at) {
  std::int64_t place = 0;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) place = place * shape[axis] + at[axis];
  return static_cast<std::size_t>(place);
}

/// An index, read as a double, in [0, extent).
[[nodiscard]] inline std::int64_t clamped_index(double index, std::int64_t extent) {
  return static_cast<std::int64_t>(std::clamp(index, 0.0, static_cast<double>(extent - 1)));
}

/// Values that tell elements apart: whole numbers for integers, both values for bool.
[[nodiscard]] inline Fill telling(DType dtype) {
  return dtype == DType::boolean ? Fill{0, 1} : Fill{-100, 100};
}

/// The dtypes that hold indices.
[[nodiscard]] inline std::vector<DType> index_dtypes() {
  return {DType::s32, DType::s64, DType::u32, DType::u64,
          DType::s8,  DType::u8,  DType::s16, DType::u16};
}

/// `axis`, negative from the end.
[[nodiscard]] inline std::size_t plain_axis(std::int64_t axis, std::size_t rank) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

/// The axes that index vectors of `entries` entries speak of.
[[nodiscard]] inline std::vector<std::size_t> plain_axes(const KernelCall& call) {
  const Shape& indices = call.shape(1);
  std::vector<std::size_t> axes;
  for (const std::int64_t axis : call.params.integers("axes"))
    axes.push_back(plain_axis(axis, call.shape().rank()));
  if (axes.empty())
    for (std::int64_t i = 0; i < indices[indices.rank() - 1]; ++i)
      axes.push_back(static_cast<std::size_t>(i));
  return axes;
}

/// Where element `at` of the rows that index vectors choose lies in the tensor they speak of.
[[nodiscard]] inline std::size_t place_of_row_element(const KernelCall& call,
                                                      const std::vector<double>& indices,
                                                      const std::vector<std::int64_t>& at) {
  const Shape& tensor = call.shape(0);
  const std::vector<std::size_t> axes = plain_axes(call);
  const std::size_t leading = call.shape(1).rank() - 1;
  std::size_t vector = 0;
  for (std::size_t i = 0; i < leading; ++i)
    vector = vector * static_cast<std::size_t>(call.shape(1)[i]) + static_cast<std::size_t>(at[i]);
  std::vector<std::int64_t> place(tensor.rank());
  std::size_t rest = leading;
  for (std::size_t axis = 0; axis < tensor.rank(); ++axis) {
    const auto found = std::ranges::find(axes, axis);
    if (found == axes.end())
      place[axis] = at[rest++];
    else
      place[axis] = clamped_index(
          indices[vector * axes.size() + static_cast<std::size_t>(found - axes.begin())],
          tensor[axis]);
  }
  return position(tensor, place);
}

}  // namespace stoker::cases
