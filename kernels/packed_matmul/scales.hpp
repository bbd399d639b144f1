// Scales and zero points of a column's blocks as floats.
//
// Compiled once per instruction set. Pure functions; any thread.
#pragma once

#include "stoker/kernels/cpu/convert.hpp"
#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/packed_matmul/problem.hpp"

namespace stoker::kernels::packed_matmul::STOKER_ISA {

/// A number of block i stands for (number + less[i]) · factors[i].
struct Scaling {
  const float* factors;
  const float* less;  ///< 0 or below: the zero points, taken off
};

/// Of a run's operands.
class Scales {
 public:
  /// Floats that of() may write to each of its buffers.
  [[nodiscard]] static constexpr std::int64_t room(std::int64_t blocks) noexcept {
    return blocks + 8;
  }

  Scales(const Problem& p, const CpuArgs& args, bool are_halves) noexcept
      : p_{p},
        halves_{are_halves ? args.in<Half>(2) : nullptr},
        floats_{are_halves ? nullptr : args.in<float>(2)},
        zeros_{p.has_zeros ? args.in<std::uint8_t>(3) : nullptr} {}

  /// Of `count` blocks of column j from `first` on; entry 0 is of block `first`.
  [[nodiscard]] Scaling of(std::int64_t j, std::int64_t first, std::int64_t count, float* factors,
                           float* less) const noexcept {
    const std::int64_t at = j * p_.blocks() + first;
    Scaling made{factors, less};
    if (halves_ == nullptr)
      made.factors = floats_ + at;
    else
      cpu::STOKER_ISA::load_block(halves_ + at, factors, static_cast<std::size_t>(count));
    if (zeros_ == nullptr) {
      std::fill_n(less, count, -static_cast<float>(p_.zero_point));
    } else {
      // From the byte on that the first one stands in.
      const std::int64_t in_byte = 8 / p_.bits, before = first % in_byte;
      const std::uint8_t* const from = zeros_ + j * p_.zero_bytes() + first / in_byte;
      const std::int64_t bytes = (before + count + in_byte - 1) / in_byte;
      if (p_.bits == 2) unpack<2>(from, bytes, less);
      if (p_.bits == 4) unpack<4>(from, bytes, less);
      if (p_.bits == 8) unpack<8>(from, bytes, less);
      made.less += before;
    }
    return made;
  }

  /// Asks memory for the scales of column j from block `first` on.
  void ask_for(std::int64_t j, std::int64_t first) const noexcept {
    const std::int64_t at = j * p_.blocks() + first;
    if (halves_ == nullptr)
      __builtin_prefetch(floats_ + at);
    else
      __builtin_prefetch(halves_ + at);
  }

 private:
  template <int bits>
  static void unpack(const std::uint8_t* from, std::int64_t bytes, float* to) noexcept {
    constexpr int in_byte = 8 / bits, mask = (1 << bits) - 1;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < bytes; ++i)
#pragma GCC unroll 4
      for (int phase = 0; phase < in_byte; ++phase)
        to[i * in_byte + phase] = -static_cast<float>(from[i] >> (phase * bits) & mask);
  }

  const Problem& p_;
  const Half* halves_;
  const float* floats_;
  const std::uint8_t* zeros_;
};

}  // namespace stoker::kernels::packed_matmul::STOKER_ISA
