// Which pixels a morphological operation looks at: all within a shape around the own one.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "stoker/kernels/call.hpp"
#include "stoker/kernels/image/border.hpp"
#include "stoker/kernels/image/image.hpp"

namespace stoker::kernels::morphology {

inline constexpr std::int64_t max_radius = 32;

/// The numbers are also those that shaders get.
enum class WindowShape : std::uint8_t {
  square,  ///< |dx| ≤ radius, |dy| ≤ radius
  cross,   ///< dx = 0 or dy = 0 within the square
  disk,    ///< dx² + dy² ≤ radius²
};

/// Every window is symmetric both ways, and rows further away from the centre are not wider.
struct Window {
  std::int64_t radius = 0;
  WindowShape shape = WindowShape::square;

  /// Reads `radius` and `shape`.
  [[nodiscard]] static Window from(const ParamSet& params) {
    const std::string_view shape = params.text("shape");
    return {params.integer("radius"), shape == "cross"  ? WindowShape::cross
                                      : shape == "disk" ? WindowShape::disk
                                                        : WindowShape::square};
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
