// Inputs that are read through strides, delivered as contiguous blocks.
#pragma once

#include <numeric>

#include "stoker/kernels/cpu/stream.hpp"
#include "stoker/kernels/strided_walk.hpp"

namespace stoker::kernels::cpu::STOKER_ISA {

/// Writes output elements [first, first + n) of `operand` as the compute type to `to`: a row of the
/// walk at a time, of which the first may start, and the last end, in its middle.
template <class T>
inline void gather(const T* base, const StridedWalk& walk, std::size_t operand, std::size_t first,
                   std::size_t n, Compute<T>* to) noexcept {
  const Strides& strides = walk.strides[operand];
  const std::size_t last = walk.rank - 1;
  std::array<std::int64_t, Shape::max_rank> at{};
  auto rest = static_cast<std::int64_t>(first);
  for (std::size_t axis = walk.rank; axis-- > 0;) {
    at[axis] = rest % walk.extents[axis];
    rest /= walk.extents[axis];
    if (axis != last) base += at[axis] * strides[axis];
  }
  const std::int64_t stride = strides[last];
  for (std::int64_t column = at[last]; n > 0; column = 0) {
    const std::size_t run = std::min(static_cast<std::size_t>(walk.extents[last] - column), n);
    const T* from = base + column * stride;
    if (stride == 1) {
      load_block(from, to, run);
    } else if (stride == 0) {
      load_block(from, to, 1);
      std::fill_n(to + 1, run - 1, to[0]);
    } else {
      for (std::size_t i = 0; i < run; ++i)
        load_block(from + static_cast<std::int64_t>(i) * stride, to + i, 1);
    }
    to += run;
    n -= run;
    for (std::size_t axis = last; axis-- > 0;) {
      base += strides[axis];
      if (++at[axis] < walk.extents[axis]) break;
      base -= strides[axis] * walk.extents[axis];
      at[axis] = 0;
    }
  }
}

/// Yields an operand's elements for each block of output elements. Points into the operand where it
/// is contiguous there, else gathers into `buffer`; a gathered block that repeats (a bias row, a
/// scalar) is gathered once. Not thread-safe: one for each slice.
template <class T> class Operand {
 public:
  Operand(const T* base, const StridedWalk& walk, std::size_t index, Compute<T>* buffer)
      : base_{base},
        walk_{walk},
        index_{index},
        buffer_{buffer},
        dense_{walk.dense(index)},
        period_{static_cast<std::size_t>(walk.period(index))} {}

  /// Elements [first, first + n) in the order of the output; valid until the next call.
  const Compute<T>* block(std::size_t first, std::size_t n) noexcept {
    if (dense_) return loaded(base_ + first, buffer_, n);
    const std::size_t phase = first % period_;
    if (phase == phase_ && n <= held_) return buffer_;
    phase_ = phase;
    held_ = n;
    gather(base_, walk_, index_, phase, n, buffer_);
    return buffer_;
  }

 private:
  const T* base_;
  const StridedWalk& walk_;
  std::size_t index_;
  Compute<T>* buffer_;
  bool dense_;
  std::size_t period_;
  std::size_t phase_ = 0;
  std::size_t held_ = 0;  // elements of `buffer_` that are valid for phase_
};

/// A block length ≤ block_elements that keeps output blocks on 64-byte lines and, where it can, is
/// a multiple of the operands' periods, so that repeated blocks are gathered once.
inline std::size_t block_step(const StridedWalk& walk, std::size_t operands) noexcept {
  std::size_t unit = 64;
  for (std::size_t k = 0; k < operands; ++k) {
    const auto period = static_cast<std::size_t>(walk.period(k));
    if (walk.dense(k) || period > block_elements) continue;
    const std::size_t both = std::lcm(unit, period);
    if (both <= block_elements) unit = both;
  }
  return block_elements / unit * unit;
}

}  // namespace stoker::kernels::cpu::STOKER_ISA
