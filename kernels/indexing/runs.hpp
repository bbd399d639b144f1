// Moving boxes of elements between dense tensors. Compiled once per instruction set.
#pragma once

#include <cstring>

#include "stoker/kernels/cpu/stream.hpp"
#include "stoker/kernels/strided_walk.hpp"

namespace stoker::indexing::STOKER_ISA {

/// Shorter rows are moved by a plain loop: a call of memcpy costs more than they do.
inline constexpr std::size_t short_run_bytes = 64;

/// Calls body(position, at0, at1, n) for each part of a row of the walk's innermost axis that lies
/// in `range`: n elements from `position` on in walking order, the first of which the operands find
/// at elements at0 and at1.
template <class Body> inline void for_runs(const StridedWalk& walk, SliceRange range, Body&& body) {
  if (range.begin >= range.end) return;
  if (walk.rank == 0) {
    body(std::size_t{0}, std::int64_t{0}, std::int64_t{0}, std::size_t{1});
    return;
  }
  const std::size_t last = walk.rank - 1;
  std::array<std::int64_t, Shape::max_rank> at{};
  std::array<std::int64_t, StridedWalk::max_operands> base{};
  auto rest = static_cast<std::int64_t>(range.begin);
  for (std::size_t axis = walk.rank; axis-- > 0;) {
    at[axis] = rest % walk.extents[axis];
    rest /= walk.extents[axis];
    if (axis == last) continue;
    for (std::size_t k = 0; k < base.size(); ++k) base[k] += at[axis] * walk.strides[k][axis];
  }
  std::int64_t column = at[last];
  for (std::size_t position = range.begin; position < range.end; column = 0) {
    const std::size_t n =
        std::min(static_cast<std::size_t>(walk.extents[last] - column), range.end - position);
    body(position, base[0] + column * walk.strides[0][last],
         base[1] + column * walk.strides[1][last], n);
    position += n;
    for (std::size_t axis = last; axis-- > 0;) {
      for (std::size_t k = 0; k < base.size(); ++k) base[k] += walk.strides[k][axis];
      if (++at[axis] < walk.extents[axis]) break;
      for (std::size_t k = 0; k < base.size(); ++k)
        base[k] -= walk.strides[k][axis] * walk.extents[axis];
      at[axis] = 0;
    }
  }
}

/// n adjacent elements; `streams` asks for stores past the cache, see stream_fence().
template <class T>
inline void move_dense(const T* from, T* to, std::size_t n, bool streams) noexcept {
  if (n * sizeof(T) < short_run_bytes)
    for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
  else if (streams && n * sizeof(T) >= 4 * short_run_bytes)
    kernels::cpu::STOKER_ISA::stream_copy(to, from, n * sizeof(T));
  else
    std::memcpy(to, from, n * sizeof(T));
}

/// The elements of `range` from where operand 0 lies to where operand 1 does.
template <class T>
inline void move_box(const T* from, T* to, const StridedWalk& walk, SliceRange range,
                     bool streams) {
  const std::size_t last = walk.rank == 0 ? 0 : walk.rank - 1;
  const std::int64_t step_from = walk.strides[0][last];
  const std::int64_t step_to = walk.strides[1][last];
  for_runs(walk, range, [&](std::size_t, std::int64_t at_from, std::int64_t at_to, std::size_t n) {
    const T* source = from + at_from;
    T* target = to + at_to;
    if ((step_from == 1 && step_to == 1) || n == 1)
      move_dense(source, target, n, streams);
    else
      for (std::size_t i = 0; i < n; ++i, source += step_from, target += step_to) *target = *source;
  });
  if (streams) kernels::cpu::STOKER_ISA::stream_fence();
}

/// Calls visitor.operator()<T>() with the unsigned type of `bytes` bytes: 1, 2, 4 or 8. Elements
/// that only move are moved as bits.
template <class Visitor> inline void visit_bits(std::size_t bytes, Visitor&& visitor) {
  switch (bytes) {
    case 1: visitor.template operator()<std::uint8_t>(); break;
    case 2: visitor.template operator()<std::uint16_t>(); break;
    case 4: visitor.template operator()<std::uint32_t>(); break;
    default: visitor.template operator()<std::uint64_t>(); break;
  }
}

}  // namespace stoker::indexing::STOKER_ISA
