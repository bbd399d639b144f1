// What is done with parts of a product on the CPU while they are in the cache of who computed them.
//
// Compiled once per instruction set. Immutable and shared by the slices of a run.
#pragma once

#include <memory>
#include <optional>

#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/matmul/problem.hpp"

namespace stoker::kernels::matmul::STOKER_ISA {

/// Elements of C: `rows` times `columns` neighbours, the first of all at `first`, of the next row
/// `step` further on.
struct Elements {
  std::size_t first;
  std::size_t rows;
  std::size_t columns;
  std::size_t step;
};

class Finish {
 public:
  virtual ~Finish() = default;
  /// The output in whose memory C lies until it is finished; none: C is scratch memory.
  [[nodiscard]] virtual std::optional<std::size_t> home() const noexcept = 0;
  /// Memory that run() needs, aligned to 64 bytes.
  [[nodiscard]] virtual std::size_t scratch_bytes() const noexcept = 0;
  virtual void run(const CpuArgs& args, const std::byte* c, std::byte* scratch,
                   const Elements& elements) const noexcept = 0;
};

/// The plan of a product with at least one element, of which `finish` makes the outputs.
[[nodiscard]] CpuPlan plan_finished(DType dtype, const Problem& problem,
                                    std::shared_ptr<const Finish> finish);

}  // namespace stoker::kernels::matmul::STOKER_ISA
