// The interpreter of fused programs for who takes the values block by block, in memory of his own.
//
// Compiled once per instruction set. Immutable and shared by the slices of a run; what a slice changes
// lies in its registers and its tile.
#pragma once

#include <limits>
#include <memory>

#include "stoker/kernels/fused/schedule.hpp"

namespace stoker::kernels::fused::STOKER_ISA {

class Evaluator {
 public:
  /// As `next`: no block follows.
  static constexpr std::size_t nothing = std::numeric_limits<std::size_t>::max();

  virtual ~Evaluator() = default;
  [[nodiscard]] virtual const Schedule& plan() const noexcept = 0;
  /// Once for each slice, before its first block. `registers`: Schedule::register_bytes, aligned to 64
  /// bytes.
  virtual void begin(const CpuArgs& args, std::byte* registers) const noexcept = 0;
  /// Leaves elements [first, first + n), of which the schedule says where they may begin, in
  /// args.outputs[0]. Meanwhile the inputs of the block at `next` are fetched into the cache.
  virtual void evaluate(const CpuArgs& args, std::byte* registers, std::size_t first, std::size_t n,
                        std::size_t next) const noexcept = 0;
};

/// `schedule` is one of make_tile_schedule(), or of make_part_schedule(): then evaluate() leaves the
/// elements where they belong in args.outputs.
[[nodiscard]] Result<std::shared_ptr<const Evaluator>> make_evaluator(Schedule schedule);

/// The planners of fused reductions (reduction_cpu.cpp) and products (product_cpu.cpp).
void implement_reductions(CpuTable& table);
void implement_products(CpuTable& table);

}  // namespace stoker::kernels::fused::STOKER_ISA
