// What shaders that include tile.glsl have in common: how a tile is cut, and a variant for each mixture of signs.
#pragma once

#include <string>

#include "stoker/kernels/shader/gpu_plan.hpp"

namespace stoker::kernels::integer_matmul {

/// As in tile.glsl: sums along each side of a tile, and terms that pass through shared memory at a time.
inline constexpr std::int64_t tile_side = 64, tile_depth = 16;

/// "s8_u8": a signed left side and an unsigned right one.
[[nodiscard]] inline std::string mixture(bool left_signed, bool right_signed) {
  return std::string{left_signed ? "s8" : "u8"} + (right_signed ? "_s8" : "_u8");
}
/// One variant for each mixture, the types of which the shader calls by these letters.
inline void add_mixtures(Shader& shader, const char* left, const char* right) {
  for (const bool l : {true, false})
    for (const bool r : {true, false})
      shader.variants.push_back(
          {.name = mixture(l, r),
           .types = {{left, l ? DType::s8 : DType::u8}, {right, r ? DType::s8 : DType::u8}}});
}

}  // namespace stoker::kernels::integer_matmul
