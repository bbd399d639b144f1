#include "stoker/kernels/matmul/texts.hpp"

namespace stoker::kernels::matmul {

std::string_view tiled_text() noexcept {
  return
#include "stoker/kernels/matmul/tiled.glsl.inc"
      ;
}
std::string_view row_dots_text() noexcept {
  return
#include "stoker/kernels/matmul/row_dots.glsl.inc"
      ;
}
std::string_view row_sums_text() noexcept {
  return
#include "stoker/kernels/matmul/row_sums.glsl.inc"
      ;
}

}  // namespace stoker::kernels::matmul
