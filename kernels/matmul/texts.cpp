#include "stoker/kernels/matmul/texts.hpp"

#include "stoker/kernels/shader_text.hpp"

STOKER_SHADER_TEXT(stoker_matmul_tiled, "matmul/tiled.glsl");
STOKER_SHADER_TEXT(stoker_matmul_row_dots, "matmul/row_dots.glsl");
STOKER_SHADER_TEXT(stoker_matmul_row_sums, "matmul/row_sums.glsl");

namespace stoker::kernels::matmul {

std::string_view tiled_text() noexcept { return stoker_matmul_tiled; }
std::string_view row_dots_text() noexcept { return stoker_matmul_row_dots; }
std::string_view row_sums_text() noexcept { return stoker_matmul_row_sums; }

}  // namespace stoker::kernels::matmul
