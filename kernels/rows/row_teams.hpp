// How the threads of a GPU share rows that are read, reduced and written: for shaders that include
// rows/team.glsl, whose constants begin with the ones named here.
#pragma once

#include "stoker/kernels/shader/gpu_plan.hpp"

namespace stoker::kernels::rows {

/// `lanes` threads (a power of two) take a row in batches of `quads` groups of four elements each.
struct RowTeams {
  std::uint32_t lanes = 1;
  std::uint32_t quads = 1;

  /// For rows of `length` ≥ 1 elements: few threads to a short row, one batch wherever the registers
  /// of a group of `threads` can hold a row, and batches of equal size beyond.
  [[nodiscard]] static RowTeams of(std::int64_t length, std::uint32_t threads) noexcept;
};

/// A shader of rows twice: with shuffles between the threads of a subgroup, and without.
struct RowShaders {
  std::shared_ptr<const Shader> shuffling;
  std::shared_ptr<const Shader> plain;
};
/// `shader` has everything but what is decided here: the name's ending, the first constants ("lanes",
/// "quads", "subgroup", "wide") and the definition of SUBGROUPS.
[[nodiscard]] RowShaders row_shaders(Shader shader);

/// Shader, grid and the first constants; variant, bindings, push fields and more constants are the
/// caller's.
[[nodiscard]] GpuPass row_pass(const RowShaders& shaders, std::int64_t rows, std::int64_t length,
                               const GpuTraits& traits);

}  // namespace stoker::kernels::rows
