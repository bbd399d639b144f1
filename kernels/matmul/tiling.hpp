// The GPU's tiled product (tiled.glsl) in its sizes, for matmul and for what else is one: conv.
#pragma once

#include <array>
#include <utility>

#include "stoker/kernels/matmul/problem.hpp"
#include "stoker/kernels/shader/gpu_plan.hpp"

namespace stoker::kernels::matmul {

/// A group computes a tile of C: rows/(4·quads) × columns/(4·quads) threads, each quads × quads blocks
/// of 4 × 4. `depth` of k pass through shared memory at a time, twice buffered. With several slices there
/// are as many such sets of threads, which take turns along k and add up at the end: what is long and
/// makes few tiles waits for memory that many times less.
struct Tiling {
  const char* name;
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t depth;
  std::uint32_t quads;
  std::uint32_t slices;
  [[nodiscard]] std::uint32_t threads() const noexcept {
    return rows / (4 * quads) * (columns / (4 * quads)) * slices;
  }
  /// GpuPass::rounds of a sum of `k` terms.
  [[nodiscard]] std::uint64_t rounds(std::int64_t k) const noexcept {
    return static_cast<std::uint64_t>(k) / (std::uint64_t{depth} * slices) + 16;
  }
  /// Of shared memory, where elements are computed with in `element_bytes`.
  [[nodiscard]] std::size_t shared_bytes(std::size_t element_bytes) const noexcept {
    const std::uint32_t spare = slices > 1 ? 0 : 8;
    return std::size_t{2} * slices * depth * (rows + columns + spare) * element_bytes;
  }
};

/// From the one that reuses most to the one that makes most groups; then the one that shares k.
inline constexpr std::array<Tiling, 4> tilings = {{
    {"128", 128, 128, 8, 2, 1},
    {"64", 64, 64, 8, 2, 1},
    {"32", 32, 32, 16, 1, 1},
    {"16_by_16", 16, 16, 8, 1, 16},
}};

/// GpuPass::rounds of row.glsl, where at least 16 threads share a sum of `k` terms.
[[nodiscard]] constexpr std::uint64_t row_rounds(std::int64_t k) noexcept {
  return static_cast<std::uint64_t>(k) / 16 + 16;
}

/// Whether there is room in registers for tiles of such elements, and in 32 KiB of shared memory.
[[nodiscard]] constexpr bool fits(const Tiling& tiling, std::size_t element_bytes) noexcept {
  return element_bytes <= 4 || (tiling.rows <= 64 && tiling.slices == 1);
}

/// `batches` products of m × k by k × n elements.
struct Extents {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  std::int64_t batches;
  std::size_t element_bytes;
};

[[nodiscard]] inline Extents extents_of(const Problem& p, std::size_t element_bytes) noexcept {
  return {p.m, p.n, p.k, p.batches, element_bytes};
}

/// Whether there is a device on which choose_tiling() takes that one.
[[nodiscard]] bool suits(const Tiling& tiling, const Extents& product) noexcept;
/// Its index: the largest tiling that has room, and whose tiles are well filled and give every compute
/// unit work; shared k where not even the smallest ones do.
[[nodiscard]] std::size_t choose_tiling(const Extents& product, const GpuTraits& traits) noexcept;

/// The shader's name, file and local size; bindings, fields and variants are the caller's.
[[nodiscard]] Shader tiled(const Tiling& tiling, const std::string& prefix);
/// What tiled.glsl expects to be defined.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> tiling_defines(const Tiling& tiling);

}  // namespace stoker::kernels::matmul
