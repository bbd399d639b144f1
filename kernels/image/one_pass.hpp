// What the definitions of image kernels share that run one shader once.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/kernels/single_output.hpp"

namespace stoker::image {

/// `kernel` takes an image and gives one of its shape and dtype. shape_mismatch as check() says.
void keep_shape(Kernel& kernel);

/// One pass from input 0 to output 0 in at least `threads` threads.
[[nodiscard]] GpuPlan one_pass(const Shader& shader, std::string variant, const PushValues& push,
                               std::uint64_t threads);

}  // namespace stoker::image
