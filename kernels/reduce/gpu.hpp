// The GPU version of the reductions: three shaders, chosen and split by shape.
//
// A step [outer, reduced, inner] with inner = 1 sums rows, teams of threads each; with a wide inner
// extent it walks down columns; with a narrow one and much to reduce, threads stride over whole
// rows. Where there are too few results to fill a GPU, `reduced` is cut into pieces whose partial
// results a second pass reduces. Every sum is a tree over threads and pieces: the error grows with
// the elements one thread adds plus the logarithm of the rest.
#pragma once

#include <memory>
#include <string_view>

#include "stoker/kernels/gpu_plan.hpp"
#include "stoker/kernels/reduce/steps.hpp"

namespace stoker::kernels::reduce {

struct Shaders {
  std::shared_ptr<const Shader> rows;
  std::shared_ptr<const Shader> columns;
  std::shared_ptr<const Shader> narrow;
};

[[nodiscard]] Shaders make_shaders();

/// Precondition: `result` has elements.
[[nodiscard]] Result<GpuPlan> gpu_plan(std::string_view op, Operation operation,
                                       const Shaders& shaders, const KernelCall& call,
                                       const TensorSpec& result);

}  // namespace stoker::kernels::reduce
