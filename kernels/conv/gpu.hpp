// The GPU's ways to convolve.
#pragma once

#include <memory>
#include <vector>

#include "stoker/kernels/conv/problem.hpp"
#include "stoker/kernels/shader/gpu_plan.hpp"

namespace stoker::kernels::conv {

struct GpuShaders {
  std::shared_ptr<const Shader> direct;  ///< a thread for each output; right for everything
  std::shared_ptr<const Shader> tiled;   ///< a product in tiles, up to two spatial axes
  std::shared_ptr<const Shader> sums;    ///< adds up the parts that a long product was cut into
  std::vector<std::shared_ptr<const Shader>> patches;  ///< products of NCHW images, see patches.hpp

  /// The same for all kernels: devices know shaders by address. Lives until the process ends.
  [[nodiscard]] static const GpuShaders& shared();
  /// Those whose stores a fused program may replace (shader_sources.hpp).
  [[nodiscard]] GpuShaders fusable() const { return {direct, tiled, sums, {}}; }
  [[nodiscard]] std::vector<std::shared_ptr<const Shader>> all() const;
  /// Those that there are variants for, but for f64 and s32 not of `tiled`.
  [[nodiscard]] static const std::vector<DType>& dtypes();
};

/// Inputs and the output of a pass that binds x, k, bias and y. Without a bias k takes its place, and the
/// shader does not read it there.
[[nodiscard]] std::vector<PassBinding> operands(const Problem& p);

/// limit_exceeded, of `op`, if extents do not fit into 32 bits; those of elements must. Threads: any; no
/// state.
[[nodiscard]] Result<GpuPlan> gpu_plan(const GpuShaders& shaders, const char* op, const Problem& p,
                                       DType dtype, const GpuTraits& traits);
/// The same of a call of `conv`; limit_exceeded also where elements do not fit.
[[nodiscard]] Result<GpuPlan> gpu_plan(const GpuShaders& shaders, const KernelCall& call,
                                       const TensorSpec& result, const GpuTraits& traits);

}  // namespace stoker::kernels::conv
