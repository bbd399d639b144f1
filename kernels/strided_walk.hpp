// How a dense output is produced from operands that are read with strides: broadcast and permuted
// operands, with every axis pair that can be walked as one merged into one.
//
// A value without heap memory; any thread may use it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "stoker/runtime/base/shape.hpp"

namespace stoker {

using Strides = std::array<std::int64_t, Shape::max_rank>;

/// The axes of an output, outermost first, none of extent 1, and the strides (in elements) with
/// which up to two operands follow it. Rank 0 is a single element.
struct StridedWalk {
  static constexpr std::size_t max_operands = 2;
  std::size_t rank = 0;
  std::array<std::int64_t, Shape::max_rank> extents{};
  std::array<Strides, max_operands> strides{};

  [[nodiscard]] std::int64_t inner() const noexcept { return rank == 0 ? 1 : extents[rank - 1]; }
  /// Whether `operand` lies exactly like the output.
  [[nodiscard]] bool dense(std::size_t operand) const noexcept;
  /// Whether `operand` is one element that meets every output element.
  [[nodiscard]] bool single(std::size_t operand) const noexcept;
  /// The smallest P such that `operand` at output index i is `operand` at i mod P: the product of
  /// the extents inside the leading axes of stride 0.
  [[nodiscard]] std::int64_t period(std::size_t operand) const noexcept;
};

/// Merges the axes of `output`. An axis of extent 1 is dropped; an outer axis joins the next inner
/// one where every operand's outer stride is the inner stride times the inner extent.
[[nodiscard]] StridedWalk strided_walk(const Shape& output,
                                       std::span<const Strides> operands) noexcept;

/// The strides of a dense `operand` stretched to `output` by NumPy's rule. Precondition: it fits.
[[nodiscard]] Strides broadcast_strides(const Shape& operand, const Shape& output) noexcept;

}  // namespace stoker
