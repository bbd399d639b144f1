#include "stoker/kernels/matmul/tiling.hpp"

#include <algorithm>

namespace stoker::kernels::matmul {
namespace {

constexpr std::size_t smallest = 2;  // of those that do not share k
constexpr std::size_t sharing = 3;

std::int64_t tiles(const Tiling& tiling, const Extents& product) {
  return (product.m + tiling.rows - 1) / tiling.rows *
         ((product.n + tiling.columns - 1) / tiling.columns);
}

}  // namespace

bool suits(const Tiling& tiling, const Extents& product) noexcept {
  if (&tiling == &tilings[smallest]) return true;
  if (!fits(tiling, product.element_bytes)) return false;
  if (tiling.slices > 1) return product.k >= 64;
  const double filled =
      static_cast<double>(product.m) * static_cast<double>(product.n) /
      (static_cast<double>(tiles(tiling, product)) * tiling.rows * tiling.columns);
  return filled > 0.7;
}

std::size_t choose_tiling(const Extents& product, const GpuTraits& traits) noexcept {
  const auto is_possible = [&](const Tiling& tiling) {
    const std::size_t computed_in = std::max<std::size_t>(product.element_bytes, 4);
    return suits(tiling, product) && tiling.shared_bytes(computed_in) <= traits.shared_bytes;
  };
  for (std::size_t i = 0; i < smallest; ++i)
    if (is_possible(tilings[i]) &&
        tiles(tilings[i], product) * product.batches >= traits.compute_units)
      return i;
  const std::int64_t groups = tiles(tilings[smallest], product) * product.batches;
  const bool idle = groups < std::max<std::int64_t>(traits.compute_units, 2);
  return idle && is_possible(tilings[sharing]) ? sharing : smallest;
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
          {"QUADS", std::to_string(tiling.quads)},
          {"SLICES", std::to_string(tiling.slices)}};
}

}  // namespace stoker::kernels::matmul
