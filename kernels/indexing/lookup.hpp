// Where index vectors point: parts of a dense tensor, one for each vector.
//
// Values without heap memory; any thread may use them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "stoker/kernels/call.hpp"
#include "stoker/kernels/strided_walk.hpp"

namespace stoker::indexing {

/// `outer` times `count` rows of the tensor. Row (o, i) begins at element
///     o · outer_stride + Σ clamp(indices[i, c], 0, extents[c] - 1) · strides[c]
/// and is walked along the axes that the coordinates c do not speak of. Rows lie one after the
/// other in the dense tensor on the other side.
struct Lookup {
  std::size_t coordinates = 0;
  std::array<std::int64_t, Shape::max_rank> extents{};
  Strides strides{};
  std::int64_t count = 1;
  std::int64_t outer = 1;
  std::int64_t outer_stride = 0;
  std::int64_t row = 1;  ///< elements
  StridedWalk rest;      ///< one row; operand 0 is its place in the tensor

  /// Whether a row's elements are adjacent in the tensor. All strides are then multiples of `row`.
  [[nodiscard]] bool dense() const noexcept { return rest.dense(0); }
};

/// One coordinate along `axis` of x for each element of `indices`; the axes before it are `outer`.
[[nodiscard]] Lookup lookup_along(const Shape& x, const Shape& indices, std::size_t axis);

/// The last axis of `indices` holds coordinates along `axes` of x.
[[nodiscard]] Lookup lookup_vectors(const Shape& x, const Shape& indices,
                                    const std::vector<std::size_t>& axes);

/// The axes of input 0 that the index vectors in input 1 speak of, from the option `axes`, here
/// `wanted` (empty: the leading ones). shape_mismatch or invalid_parameter unless there are as many
/// as the vectors have entries, each once.
[[nodiscard]] Result<std::vector<std::size_t>> vector_axes(std::string_view op,
                                                           const KernelCall& call,
                                                           std::span<const std::int64_t> wanted);

/// The shape of the rows that index vectors choose: the vectors' axes, then the other axes of x.
[[nodiscard]] Result<Shape> rows_shape(std::string_view op, const Shape& x, const Shape& indices,
                                       const std::vector<std::size_t>& axes);

/// shape_mismatch if `axes` of x, along which `op` looks up something, hold no element.
[[nodiscard]] Result<void> check_not_empty(std::string_view op, const Shape& x,
                                           const std::vector<std::size_t>& axes);

}  // namespace stoker::indexing
