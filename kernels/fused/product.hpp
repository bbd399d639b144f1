// A product of matrices whose elements are not stored but worked on: relu(a·b + bias) as one kernel,
// which leaves what the program makes of each element, on the CPU while it is in the cache, on a GPU
// while it is in registers.
//
// The elements are those of kernels/matmul, rounded to its dtype as if they had been stored, so
// results are the same as in two kernels.
//
// Values. Threads: any, as with every value.
#pragma once

#include "stoker/kernels/fused/program.hpp"

namespace stoker {

/// The operands of a product, as kernels/matmul takes them.
struct FusedProduct {
  TensorSpec a;
  TensorSpec b;
  bool transpose_a = false;
  bool transpose_b = false;
};

/// The kernel of both, "fused_matmul". Input 0 of the program is the product, of which its buffer 0
/// has the spec; element i of the program meets element i of the product. The kernel takes a, b and
/// the other buffers of the program, and gives the program's outputs. Fails as FusedProgram::check()
/// and matmul do; invalid_argument where input 0 is another or lies otherwise; unsupported where GPUs
/// have no version of it: then two kernels are better than one.
[[nodiscard]] Result<std::shared_ptr<const Kernel>> fused_product_kernel(
    FusedProgram program, FusedProduct product, ShaderCompiler compile = {});

}  // namespace stoker

namespace stoker::kernels::fused {

/// What the planner in product_cpu.cpp is called with. Only Kernel::cpu of a fused product makes one.
struct FusedProductCall : KernelCall {
  const FusedProgram& program;
  const ParamSet& of_product;  ///< matmul's parameters
};
/// The name of that planner: no kernel can be called so.
inline constexpr std::string_view product_planner_name = "fused product";

}  // namespace stoker::kernels::fused
