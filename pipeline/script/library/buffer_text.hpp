// How print() shows a buffer: dtype and shape, then its values in aligned columns, of large buffers
// the edges only; of a buffer without elements no rows.
//
//     f32[2,3]
//     [[   1  2.5  -3]
//      [0.25    4   5]]
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "stoker/runtime/base/shape.hpp"

namespace stoker::script {

/// How many elements buffer_text() shows.
[[nodiscard]] std::size_t elements_in_text(const Shape& shape);
/// `bytes` holds all elements.
[[nodiscard]] std::string buffer_text(const TensorSpec& spec, std::span<const std::byte> bytes);
/// Of a buffer too large to read for this: the first and the last elements.
[[nodiscard]] std::string buffer_ends_text(const TensorSpec& spec, std::span<const std::byte> first,
                                           std::span<const std::byte> last);

}  // namespace stoker::script
