// The texts of the GPU's products, for shaders that are put together at run time around them.
//
// Constant; any thread.
#pragma once

#include <string_view>

namespace stoker::kernels::matmul {

[[nodiscard]] std::string_view tiled_text() noexcept;
[[nodiscard]] std::string_view row_text() noexcept;

}  // namespace stoker::kernels::matmul
