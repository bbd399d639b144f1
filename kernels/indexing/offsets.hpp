// Index vectors as the places they point to. Compiled once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "stoker/kernels/indexing/lookup.hpp"

namespace stoker::indexing::STOKER_ISA {

/// Writes where the rows of index vectors [first, first + n) begin, in elements, to `to`.
using Offsets = void (*)(const void* indices, const Lookup& lookup, std::size_t first,
                         std::size_t n, std::int64_t* to);

/// Clamped to [0, last].
template <class I> inline std::int64_t clamped(I index, std::int64_t last) noexcept {
  if constexpr (std::is_same_v<I, std::uint64_t>) {
    const auto limit = static_cast<std::uint64_t>(last);
    return static_cast<std::int64_t>(index < limit ? index : limit);
  } else {
    const auto wide = static_cast<std::int64_t>(index);
    return wide < 0 ? 0 : wide < last ? wide : last;
  }
}

template <class I>
void write_offsets(const void* indices, const Lookup& lookup, std::size_t first, std::size_t n,
                   std::int64_t* to) {
  const std::size_t step = lookup.coordinates;
  const I* const from = static_cast<const I*>(indices) + first * step;
  if (step == 1) {
    const std::int64_t last = lookup.extents[0] - 1;
    const std::int64_t stride = lookup.strides[0];
    // Multiplying 64-bit integers is the dearest part, and elements need none.
    if (stride == 1)
      for (std::size_t i = 0; i < n; ++i) to[i] = clamped(from[i], last);
    else
      for (std::size_t i = 0; i < n; ++i) to[i] = clamped(from[i], last) * stride;
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::int64_t at = 0;
    for (std::size_t c = 0; c < step; ++c)
      at += clamped(from[i * step + c], lookup.extents[c] - 1) * lookup.strides[c];
    to[i] = at;
  }
}

/// Precondition: an integer dtype.
inline Offsets offsets_of(DType dtype) {
  return visit_dtype(dtype, []<class I>() -> Offsets {
    if constexpr (std::is_integral_v<I> && !std::is_same_v<I, bool>)
      return &write_offsets<I>;
    else
      return nullptr;
  });
}

}  // namespace stoker::indexing::STOKER_ISA
