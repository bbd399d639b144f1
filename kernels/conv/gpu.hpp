// The GPU's ways to convolve.
#pragma once

#include <memory>
#include <vector>

#include "stoker/kernels/conv/problem.hpp"
#include "stoker/kernels/gpu_plan.hpp"

namespace stoker::kernels::conv {

struct GpuShaders {
  std::shared_ptr<const Shader> direct;  ///< a thread for each output; right for everything
  std::shared_ptr<const Shader> tiled;   ///< a product in tiles, up to two spatial axes
  std::shared_ptr<const Shader> sums;    ///< adds up the parts that a long product was cut into
  [[nodiscard]] static GpuShaders make();
  [[nodiscard]] std::vector<std::shared_ptr<const Shader>> all() const {
    return {direct, tiled, sums};
  }
};

/// limit_exceeded if indices or extents do not fit into 32 bits. Threads: any; no state.
[[nodiscard]] Result<GpuPlan> gpu_plan(const GpuShaders& shaders, const KernelCall& call,
                                       const TensorSpec& result, const GpuTraits& traits);

}  // namespace stoker::kernels::conv
