#include "stoker/kernels/matmul/tiling.hpp"

namespace stoker::kernels::matmul {

std::size_t choose_tiling(std::int64_t m, std::int64_t n, std::int64_t batches,
                          std::size_t element_bytes, const GpuTraits& traits) noexcept {
  for (std::size_t i = 0; i + 1 < tilings.size(); ++i) {
    const Tiling& tiling = tilings[i];
    if (tiling.rows > 64 && element_bytes > 4) continue;
    const std::int64_t tiles_m = (m + tiling.rows - 1) / tiling.rows;
    const std::int64_t tiles_n = (n + tiling.columns - 1) / tiling.columns;
    const double filled = static_cast<double>(m) * static_cast<double>(n) /
                          (static_cast<double>(tiles_m * tiling.rows) *
                           static_cast<double>(tiles_n * tiling.columns));
    if (filled > 0.7 && tiles_m * tiles_n * batches >= traits.compute_units) return i;
  }
  return tilings.size() - 1;
}

Shader tiled(const Tiling& tiling, const std::string& prefix) {
  Shader shader;
  shader.name = prefix + "_tiled_" + tiling.name;
  shader.file = "matmul/tiled.glsl";
  shader.local_size = {tiling.threads(), 1, 1};
  return shader;
}

std::vector<std::pair<std::string, std::string>> tiling_defines(const Tiling& tiling) {
  return {{"ROWS", std::to_string(tiling.rows)},
          {"COLUMNS", std::to_string(tiling.columns)},
          {"DEPTH", std::to_string(tiling.depth)},
          {"QUADS", std::to_string(tiling.quads)}};
}

}  // namespace stoker::kernels::matmul
