// The operands of products of 8-bit integers on the CPU.
//
// Compiled once per instruction set. Pure functions; any thread.
#pragma once

#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/integer_matmul/problem.hpp"

namespace stoker::kernels::integer_matmul::STOKER_ISA {

/// Room for so many bytes, so that what follows begins at a cache line.
[[nodiscard]] inline std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// What is subtracted from line `line` of an operand.
[[nodiscard]] inline int zero_of(const Side& side, const CpuArgs& args,
                                 std::int64_t line = 0) noexcept {
  if (side.zeros == 0) return 0;
  const std::int64_t at = line % side.zeros;
  return side.is_signed ? args.in<std::int8_t>(side.zeros_input)[at]
                        : args.in<std::uint8_t>(side.zeros_input)[at];
}

/// The lines of an operand along k.
struct Lines {
  std::int64_t count;  ///< of one matrix
  std::int64_t line_step, step;

  [[nodiscard]] static Lines of_a(const matmul::Problem& p) noexcept {
    return {p.m, p.a_row_step(), p.a_column_step()};
  }
  [[nodiscard]] static Lines of_b(const matmul::Problem& p) noexcept {
    return {p.n, p.transpose_b ? p.k : 1, p.transpose_b ? 1 : p.n};
  }
};

}  // namespace stoker::kernels::integer_matmul::STOKER_ISA
