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

#include "stoker/kernels/reduce/steps.hpp"
#include "stoker/kernels/shader/gpu_plan.hpp"

namespace stoker::kernels::reduce {

struct Shaders {
  std::shared_ptr<const Shader> rows;
  std::shared_ptr<const Shader> columns;
  std::shared_ptr<const Shader> narrow;
};

[[nodiscard]] Shaders make_shaders();

/// Which of the shaders a step takes.
enum class Walk : std::uint8_t { rows, columns, narrow };
[[nodiscard]] Walk walk_of(const Step& step) noexcept;
[[nodiscard]] const std::shared_ptr<const Shader>& shader_for(const Shaders& shaders,
                                                              Walk walk) noexcept;

/// One pass, without bindings, variant and divisor, which is the last push field.
struct Planned {
  GpuPass pass;
  std::int64_t pieces = 1;  ///< into which the reduced axis was cut: the next step's
};
/// `shader` is that of walk_of(step), or another that is used in the same way. `four`: it can load four
/// adjacent elements at once.
[[nodiscard]] Planned plan_step(const Shader& shader, Operation operation, const Step& step,
                                bool four = true);

/// Where values lie that are to be reduced.
struct Stored {
  PassBinding where;
  DType dtype;
};
/// Adds what reduces `from`, of step `steps[0]`, to `result`, by all of the steps; `count` divides a
/// mean. Partial results have the dtype `partial`.
void add_passes(GpuPlan& plan, Operation operation, const Shaders& shaders, Stored from,
                std::span<const Step> steps, DType partial, DType result, std::int64_t count);

/// Precondition: `result` has elements.
[[nodiscard]] Result<GpuPlan> gpu_plan(std::string_view op, Operation operation,
                                       const Shaders& shaders, const KernelCall& call,
                                       const TensorSpec& result);

}  // namespace stoker::kernels::reduce
