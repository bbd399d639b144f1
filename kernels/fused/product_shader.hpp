// The GPU's products around a fused program.
#pragma once

#include "stoker/kernels/fused/shader.hpp"
#include "stoker/kernels/matmul/problem.hpp"
#include "stoker/kernels/matmul/tiling.hpp"

namespace stoker::kernels::fused {

/// One way to compute a product. The text says how operands lie, which extents are multiples of four, and of
/// how many axes the batches are; extents are pushed, before the program's words.
struct ProductShader {
  FusedShader
      made;  ///< bound are a, b in the order of the problem, then the program's inputs, outputs
  const matmul::Tiling* tiling = nullptr;  ///< null: for a single row
};

/// Those that a device may choose from, not empty. Fails as make_stores() does.
[[nodiscard]] Result<std::vector<ProductShader>> make_product_shaders(
    const FusedProgram& program, const matmul::Problem& problem);

/// What is pushed before the program's words.
[[nodiscard]] PushValues product_values(const ProductShader& shader,
                                        const matmul::Problem& problem);

/// The groups of a dispatch.
[[nodiscard]] std::uint64_t product_groups(const ProductShader& shader,
                                           const matmul::Problem& problem) noexcept;

}  // namespace stoker::kernels::fused
