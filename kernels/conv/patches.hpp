// The GPU's product of weights with the patches of NCHW images: the tiles of kernels/matmul, whose right
// side is gathered as the product needs it. For all dtypes, with groups and a bias, without parts.
#pragma once

#include <memory>
#include <vector>

#include "stoker/kernels/conv/problem.hpp"
#include "stoker/kernels/shader/gpu_plan.hpp"

namespace stoker::kernels::conv {

/// One for each of matmul::tilings that does not share k.
[[nodiscard]] std::vector<std::shared_ptr<const Shader>> patches_shaders(
    const std::vector<DType>& dtypes);

/// Whether everything lies one after the other, the input [images, groups, channels, down, across].
[[nodiscard]] bool suits_patches(const Problem& p) noexcept;

/// For a problem that suits_patches() takes.
[[nodiscard]] GpuPass patches_pass(const std::vector<std::shared_ptr<const Shader>>& shaders,
                                   const Problem& p, DType dtype, const GpuTraits& traits);

}  // namespace stoker::kernels::conv
