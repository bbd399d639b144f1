#include "stoker/kernels/matmul/shader_sources.hpp"

namespace stoker::kernels::matmul {

std::string_view tiled_text() noexcept {
  return
#include "stoker/kernels/matmul/tiled.glsl.inc"
      ;
}
std::string_view row_text() noexcept {
  return
#include "stoker/kernels/matmul/row.glsl.inc"
      ;
}

}  // namespace stoker::kernels::matmul
