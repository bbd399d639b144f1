// Rows of images for the CPU versions: borders, padding, alpha.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "stoker/kernels/image/border.hpp"
#include "stoker/kernels/image/image.hpp"

namespace stoker::image::STOKER_ISA {

[[nodiscard]] inline std::size_t aligned(std::size_t bytes) noexcept {
  return (bytes + 63) / 64 * 64;
}

/// Row `y` of an image, which may lie past its border; `zeros` is a row of zeros.
template <class T>
[[nodiscard]] inline const T* source_row(const T* image, const Extent& extent, Border border,
                                         std::int64_t y, const T* zeros) noexcept {
  const std::int64_t from = border_index(border, y, extent.height);
  return from < 0 ? zeros : image + from * extent.row();
}

/// Extends `line`, which points at the first element of a row, by `radius` pixels on both sides.
template <class Element>
inline void pad_line(Element* line, const Extent& extent, Border border,
                     std::int64_t radius) noexcept {
  const auto pad = [&](std::int64_t pixel) {
    const std::int64_t from = border_index(border, pixel, extent.width);
    for (std::int64_t c = 0; c < extent.channels; ++c)
      line[pixel * extent.channels + c] = from < 0 ? Element{} : line[from * extent.channels + c];
  };
  for (std::int64_t k = 1; k <= radius; ++k) {
    pad(-k);
    pad(extent.width - 1 + k);
  }
}

/// Copies the fourth channel of a row of `pixels` pixels.
template <class T> inline void copy_alpha(T* to, const T* from, std::size_t pixels) noexcept {
  for (std::size_t i = 0; i < pixels; ++i) to[4 * i + 3] = from[4 * i + 3];
}
inline void copy_alpha(std::uint8_t* to, const std::uint8_t* from, std::size_t pixels) noexcept {
  // Whole pixels at once: compilers turn this into vector code, and the loop above not.
  for (std::size_t i = 0; i < pixels; ++i) {
    std::uint8_t mine[4];
    std::uint8_t own[4];
    std::memcpy(mine, to + 4 * i, 4);
    std::memcpy(own, from + 4 * i, 4);
    mine[3] = own[3];
    std::memcpy(to + 4 * i, mine, 4);
  }
}

}  // namespace stoker::image::STOKER_ISA
