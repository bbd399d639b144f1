// Attributes of operators that slide a window over the spatial axes of [batch, channels, spatial…].
//
// Pure functions; any thread. Errors are thrown: shape_mismatch, invalid_parameter.
#pragma once

#include <utility>
#include <vector>

#include "stoker/api/onnx/core/call.hpp"

namespace stoker::onnx {

struct Spatial {
  Axes kernel, strides, dilations;
  std::vector<std::pair<std::int64_t, std::int64_t>> pads;
  /// Extents of the result.
  Axes output;
  /// Elements beyond `pads` that a window with `ceil_mode` reaches into.
  Axes overhang;

  /// Reads strides, dilations, pads, auto_pad and ceil_mode of a node whose windows have these
  /// extents.
  [[nodiscard]] static Spatial of(const Call& call, Axes kernel);
};

/// The extents after batch and channels. Throws if there are none.
[[nodiscard]] Axes spatial_extents(const Call& call, const Shape& shape);

}  // namespace stoker::onnx
