// erode and dilate as types (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/image/border.hpp"
#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

/// The pixels of a window; the numbers are also those that shaders get.
enum class WindowShape : std::uint8_t {
  square,  ///< |dx| ≤ radius, |dy| ≤ radius
  cross,   ///< dx = 0 or dy = 0 within the square
  disk,    ///< dx² + dy² ≤ radius²
};

template <KindName Name> struct MorphologyOf {
  static constexpr KernelName kind{Name.text};
  std::int64_t radius = 1;
  WindowShape shape = WindowShape::square;
  Border border = Border::replicate;
};
template <KindName Name, class V> void visit_options(MorphologyOf<Name>& o, V&& visit) {
  visit("radius", o.radius, within(0, 32),
        "reach of the window in pixels to each side; 0 changes nothing");
  visit("shape", o.shape,
        one_of<WindowShape>({{"square", WindowShape::square},
                             {"cross", WindowShape::cross},
                             {"disk", WindowShape::disk}}),
        "the window: a square, the middle row and column of that square, or all pixels within the "
        "radius");
  image::visit_border(o, visit);
}
using Erode = MorphologyOf<"erode">;
using Dilate = MorphologyOf<"dilate">;

using MorphologyKernels = KernelTypes<Erode, Dilate>;

}  // namespace stoker::kernels
