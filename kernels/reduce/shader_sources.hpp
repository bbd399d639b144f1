// The texts of the GPU's reductions, for shaders that are put together at run time around them.
//
// Constant; any thread.
#pragma once

#include <string_view>

#include "stoker/kernels/reduce/gpu.hpp"

namespace stoker::kernels::reduce {

[[nodiscard]] std::string_view text_of(Walk walk) noexcept;

}  // namespace stoker::kernels::reduce
