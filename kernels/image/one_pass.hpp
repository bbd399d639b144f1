// What the definitions of image kernels share that run one shader once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "stoker/kernels/kernel.hpp"

namespace stoker::image {

/// `kernel` takes an image and gives one of its shape and dtype. shape_mismatch as check() says.
void keep_shape(Kernel& kernel);

/// The GPU version of a call that has the output `result`.
using Planner = Result<GpuPlan> (*)(const Shader& shader, const KernelCall& call,
                                    const TensorSpec& result);
/// `kernel` runs on GPUs by this shader, as `plan` says.
void use_shader(Kernel& kernel, std::shared_ptr<const Shader> shader, Planner plan);

/// One pass from input 0 to output 0 in at least `threads` threads.
[[nodiscard]] GpuPlan one_pass(const Shader& shader, std::string variant, const PushValues& push,
                               std::uint64_t threads);

}  // namespace stoker::image
