#include "stoker/kernels/conv/shader_sources.hpp"

namespace stoker::kernels::conv {

std::string_view direct_text() noexcept {
  return
#include "stoker/kernels/conv/direct.glsl.inc"
      ;
}
std::string_view tiled_text() noexcept {
  return
#include "stoker/kernels/conv/tiled.glsl.inc"
      ;
}
std::string_view sums_text() noexcept {
  return
#include "stoker/kernels/conv/sums.glsl.inc"
      ;
}

}  // namespace stoker::kernels::conv
