// A product of matrices, or a convolution, whose elements are not stored but worked on:
// relu(a·b + bias) as one kernel, which leaves what the program makes of each element, on the CPU while
// it is in the cache, on a GPU while it is in registers.
//
// The elements are those of kernels/matmul or kernels/conv, rounded to its dtype as if they had been
// stored, so results are the same as in two kernels.
//
// Values. Threads: any, as with every value.
#pragma once

#include "stoker/kernels/fused/program.hpp"

namespace stoker {

/// The operands, as the kernel that is named takes them.
struct FusedProduct {
  TensorSpec a;
  TensorSpec b;
  Params params = {};
  std::string kernel = "matmul";  ///< or "conv"
};

/// The kernel of both, "fused_matmul" or "fused_conv". Input 0 of the program is the product, of which
/// its buffer 0 has the spec; element i of the program meets element i of the product. The kernel takes
/// a, b and the other buffers of the program, and gives the program's outputs. Fails as
/// FusedProgram::check() and the product's kernel do; invalid_argument where input 0 is another or lies
/// otherwise, or the product is of another kernel; unsupported where GPUs have no version of it: then
/// two kernels are better than one.
[[nodiscard]] Result<std::shared_ptr<const Kernel>> fused_product_kernel(
    FusedProgram program, const FusedProduct& product, const ShaderCompiler& compile = {});

}  // namespace stoker

namespace stoker::kernels::fused {

/// What the planners in product_cpu.cpp are called with. Only Kernel::cpu of a fused product makes one.
struct FusedProductCall : KernelCall {
  const FusedProgram& program;
  const ParamSet& of_product;  ///< the parameters of matmul or conv
};
/// The names of those planners: no kernel can be called so.
inline constexpr std::string_view matmul_planner_name = "fused product";
inline constexpr std::string_view conv_planner_name = "fused convolution";

}  // namespace stoker::kernels::fused
