// Which pixels a morphological operation looks at: all within a shape around the own one.
#pragma once

#include <cstdint>

#include "stoker/kernels/call.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/morphology/options.hpp"

namespace stoker::kernels::morphology {

/// Every window is symmetric both ways, and rows further away from the centre are not wider.
struct Window {
  std::int64_t radius = 0;
  WindowShape shape = WindowShape::square;
  Border border = Border::replicate;

  /// Of erode or dilate, which have the same options.
  [[nodiscard]] static Window of(const KernelCall& call) {
    const auto given = options::from<Erode>(call.params);
    return {given.radius, given.shape, given.border};
  }

  /// How far the window reaches up and down in the column `dx` away, 0 ≤ dx ≤ radius.
  [[nodiscard]] std::int64_t reach(std::int64_t dx) const noexcept {
    if (shape == WindowShape::square || dx == 0) return radius;
    if (shape == WindowShape::cross) return 0;
    std::int64_t reach = radius;
    while (reach * reach + dx * dx > radius * radius) --reach;
    return reach;
  }
};

}  // namespace stoker::kernels::morphology
