// Counting on a GPU, for histogram and equalize.
#pragma once

#include <memory>
#include <vector>

#include "stoker/kernels/histogram/bins.hpp"
#include "stoker/kernels/shader/gpu_plan.hpp"

namespace stoker::kernels::histogram {

struct CountShaders {
  std::shared_ptr<const Shader> clear;
  std::shared_ptr<const Shader> count;

  [[nodiscard]] std::vector<std::shared_ptr<const Shader>> all() const { return {clear, count}; }
};

/// The shaders "histogram_clear" and "histogram_count"; kernels that count list them among theirs.
[[nodiscard]] CountShaders count_shaders();

/// Appends the passes that count the values of input 0, an image, into `to`, which is u32[channels, bins].
void add_count(GpuPlan& plan, const CountShaders& shaders, const KernelCall& call, const Bins& bins,
               PassBinding to);

}  // namespace stoker::kernels::histogram
