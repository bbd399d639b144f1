// What the CPU schedule and the shader of a fused program share: which values are needed, and how
// the inputs lie once neighbouring axes are merged.
#pragma once

#include <vector>

#include "stoker/kernels/fused/program.hpp"

namespace stoker::kernels::fused {

/// For each value whether an output depends on it.
[[nodiscard]] std::vector<bool> needed_values(const FusedProgram& program);

/// The iteration with every axis pair that all needed inputs walk as one merged into one, and no
/// axis of extent 1. Rank 0 is a single element.
struct Layout {
  std::size_t rank = 0;
  std::array<std::int64_t, Shape::max_rank> extents{};
  std::vector<Strides> strides;  ///< by input; those of unneeded ones mean nothing

  [[nodiscard]] std::int64_t inner() const noexcept { return rank == 0 ? 1 : extents[rank - 1]; }
  /// Whether the input's elements lie like the output's.
  [[nodiscard]] bool dense(std::size_t input) const noexcept;
  /// The smallest P such that output element i meets what element i mod P meets.
  [[nodiscard]] std::int64_t period(std::size_t input) const noexcept;
};

[[nodiscard]] Layout layout_of(const FusedProgram& program, const std::vector<bool>& needed);

}  // namespace stoker::kernels::fused
