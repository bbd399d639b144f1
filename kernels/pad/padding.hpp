// Where a padded tensor's elements come from, with axes merged where they stay together.
#pragma once

#include <array>
#include <vector>

#include "stoker/kernels/call.hpp"

namespace stoker::kernels::pad {

/// Entry c of an output axis is the input's entry (c - low) / step where that is whole and lies in
/// [0, from), else padding. The input's extent counts before, the crop after the dilation.
struct Axis {
  std::int64_t extent = 1;  ///< of the output
  std::int64_t from = 1;    ///< extent of the input
  std::int64_t low = 0;     ///< negative: entries cropped
  std::int64_t step = 1;    ///< interior + 1
};

/// The axes, outermost first; at least one.
struct Padding {
  std::vector<Axis> axes;

  [[nodiscard]] const Axis& inner() const noexcept { return axes.back(); }
};

/// The shape of the output from the parameters low, high and interior. invalid_parameter unless each
/// has an entry for every axis, or if an axis would get a negative extent.
[[nodiscard]] Result<Shape> padded_shape(const KernelCall& call);

/// Axes that are not padded join the one outside them. Precondition: `shape` is padded_shape().
[[nodiscard]] Padding padding(const KernelCall& call, const Shape& shape);

}  // namespace stoker::kernels::pad
