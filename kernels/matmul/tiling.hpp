// The GPU's tiled product (tiled.glsl) in its sizes, for matmul and for what else is one: conv2d.
#pragma once

#include <array>
#include <utility>

#include "stoker/kernels/gpu_plan.hpp"

namespace stoker::kernels::matmul {

/// A group of rows/(4·quads) × columns/(4·quads) threads computes a tile of C; each thread computes
/// quads × quads blocks of 4 × 4. `depth` of k pass through shared memory at a time, twice buffered.
struct Tiling {
  const char* name;
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t depth;
  std::uint32_t quads;
  [[nodiscard]] std::uint32_t threads() const noexcept {
    return rows / (4 * quads) * (columns / (4 * quads));
  }
};

/// From the one that reuses most to the one that makes most groups.
inline constexpr std::array<Tiling, 3> tilings = {{
    {"128", 128, 128, 8, 2},
    {"64", 64, 64, 8, 2},
    {"32", 32, 32, 16, 1},
}};

/// The index of the tiling for `batches` products of m × n elements of `element_bytes`: the largest
/// one whose tiles are well filled and give every compute unit work.
[[nodiscard]] std::size_t choose_tiling(std::int64_t m, std::int64_t n, std::int64_t batches,
                                        std::size_t element_bytes,
                                        const GpuTraits& traits) noexcept;

/// The shader's name, file and local size; bindings, fields and variants are the caller's.
[[nodiscard]] Shader tiled(const Tiling& tiling, const std::string& prefix);
/// What tiled.glsl expects to be defined.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> tiling_defines(const Tiling& tiling);

}  // namespace stoker::kernels::matmul
