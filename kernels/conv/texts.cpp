#include "stoker/kernels/conv/texts.hpp"

#include "stoker/kernels/shader_text.hpp"

STOKER_SHADER_TEXT(stoker_conv_direct, "conv/direct.glsl");
STOKER_SHADER_TEXT(stoker_conv_tiled, "conv/tiled.glsl");
STOKER_SHADER_TEXT(stoker_conv_sums, "conv/sums.glsl");

namespace stoker::kernels::conv {

std::string_view direct_text() noexcept { return stoker_conv_direct; }
std::string_view tiled_text() noexcept { return stoker_conv_tiled; }
std::string_view sums_text() noexcept { return stoker_conv_sums; }

}  // namespace stoker::kernels::conv
