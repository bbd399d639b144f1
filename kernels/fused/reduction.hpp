// A fused program whose values are not stored but reduced: sum(x*y), mean((x-m)^2), max(abs(x)) as one
// kernel, which reads its inputs once and writes the results only.
//
// The values are those of the program, each rounded to its dtype as if it had been stored; they are
// reduced as kernels/reduce does, dtypes of sums included. Results of integers and extrema are the
// same as in two kernels, those that round differ by the order of the sum. On the CPU that order
// depends on the shapes only, not on the number of threads.
//
// Reductions are values. Threads: any, as with every value.
#pragma once

#include "stoker/kernels/fused/program.hpp"
#include "stoker/kernels/reduce/steps.hpp"

namespace stoker {

struct FusedReduction {
  using Operation = kernels::reduce::Operation;

  Operation operation = Operation::sum;
  /// The program's elements, in their order, under this shape: its own or any other of as many.
  Shape shape;
  std::vector<bool> reduced;  ///< for each axis of `shape`
  bool keepdims = false;

  /// What becomes of values of this dtype. shape_mismatch: a largest or smallest of none;
  /// dtype_mismatch: one of bool; invalid_argument: another number of axes than `reduced` has.
  [[nodiscard]] Result<TensorSpec> result(DType dtype) const;
};

/// The kernel of both, "fused_reduce_sum" …: as fused_kernel(), but with one output, the reduced one.
/// Fails as check() and result() do, and with invalid_argument unless the program has one output, or
/// with shape_mismatch where the elements are not as many.
[[nodiscard]] Result<std::shared_ptr<const Kernel>> fused_reduction_kernel(
    FusedProgram program, FusedReduction reduction, ShaderCompiler compile = {});

}  // namespace stoker

namespace stoker::kernels::fused {

/// What the planner in reduction_cpu.cpp is called with. Only Kernel::cpu of a fused reduction makes
/// one.
struct FusedReductionCall : KernelCall {
  const FusedProgram& program;
  const FusedReduction& reduction;
};
/// The name of that planner: no kernel can be called so.
inline constexpr std::string_view reduction_planner_name = "fused reduction";

}  // namespace stoker::kernels::fused
