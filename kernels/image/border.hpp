// The values that a filter reads beyond the edge of an image.
//
// Values and pure functions; any thread.
#pragma once

#include <cstdint>

#include "stoker/kernels/options.hpp"

namespace stoker::image {

/// The numbers are also those that shaders get.
enum class Border : std::uint8_t {
  replicate,  ///< aaa|abcd|ddd
  reflect,    ///< dcb|abcd|cba: mirrored at the outermost pixel, as NumPy's "reflect"
  wrap,       ///< bcd|abcd|abc
  constant,   ///< 000|abcd|000
};

/// The option `border`.
template <class O, class V> void visit_border(O& o, V&& visit) {
  visit("border", o.border,
        one_of<Border>({{"replicate", Border::replicate},
                        {"reflect", Border::reflect},
                        {"wrap", Border::wrap},
                        {"constant", Border::constant}}),
        "what lies past the edge: the edge pixel, the image mirrored at it, the image repeated, or "
        "zeros");
}

/// The index in [0, n) whose pixel is used for index `i`, which may be any number of periods away;
/// -1: zero is used. Precondition: n ≥ 1.
[[nodiscard]] inline std::int64_t border_index(Border border, std::int64_t i,
                                               std::int64_t n) noexcept {
  if (i >= 0 && i < n) return i;
  switch (border) {
    case Border::constant: return -1;
    case Border::wrap: return (i % n + n) % n;
    case Border::reflect: {
      if (n == 1) return 0;
      const std::int64_t period = 2 * (n - 1);
      const std::int64_t phase = (i % period + period) % period;
      return phase < n ? phase : period - phase;
    }
    case Border::replicate: break;
  }
  return i < 0 ? 0 : n - 1;
}

}  // namespace stoker::image

namespace stoker::kernels {
using image::Border;
}  // namespace stoker::kernels
