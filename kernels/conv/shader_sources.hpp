// The texts of the GPU's convolutions, for shaders that are put together at run time around them.
//
// Constant; any thread.
#pragma once

#include <string_view>

namespace stoker::kernels::conv {

[[nodiscard]] std::string_view direct_text() noexcept;
[[nodiscard]] std::string_view tiled_text() noexcept;
[[nodiscard]] std::string_view sums_text() noexcept;

}  // namespace stoker::kernels::conv
