// Elements by index. Out-of-range indices are clamped, on every device; indices are integers of any
// dtype.
//
// Threads: any. Errors are thrown: shape_mismatch, dtype_mismatch, invalid_parameter.
#pragma once

#include "stoker/api/tensor/core/axes.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// Slices of x along an axis, selected by indices of any shape; that shape replaces the axis.
[[nodiscard]] Tensor take(const Tensor& x, const Tensor& indices, std::int64_t axis = 0);
/// One element for each index; indices have x's shape except along the axis.
[[nodiscard]] Tensor take_along_axis(const Tensor& x, const Tensor& indices, std::int64_t axis = 0);
/// The elements or slices at coordinates: the last axis of `indices` has one coordinate for each of
/// `axes`, by default x's leading axes.
[[nodiscard]] Tensor gather(const Tensor& x, const Tensor& indices,
                            const std::optional<Axes>& axes = {});
/// `target` with updates[i] added at the coordinates indices[i]; duplicates accumulate.
[[nodiscard]] Tensor indexed_add(const Tensor& target, const Tensor& indices, const Tensor& updates,
                                 const std::optional<Axes>& axes = {});
/// `target` with the elements at indices[i] multiplied by updates[i]. There is no gradient. For
/// duplicate indices a GPU multiplies floats in unspecified order, so rounding may vary.
[[nodiscard]] Tensor indexed_multiply(const Tensor& target, const Tensor& indices,
                                      const Tensor& updates, const std::optional<Axes>& axes = {});
/// `target` with the larger of updates[i] and the element at indices[i]. The order of duplicates does not matter. NaN
/// propagates, and -0 counts as less than 0. Equal values share the gradient.
[[nodiscard]] Tensor indexed_max(const Tensor& target, const Tensor& indices, const Tensor& updates,
                                 const std::optional<Axes>& axes = {});
/// The same with the smaller.
[[nodiscard]] Tensor indexed_min(const Tensor& target, const Tensor& indices, const Tensor& updates,
                                 const std::optional<Axes>& axes = {});
/// As above, but updates overwrite. For duplicate indices, which update wins is unspecified.
[[nodiscard]] Tensor indexed_put(const Tensor& target, const Tensor& indices, const Tensor& updates,
                                 const std::optional<Axes>& axes = {});
/// A box at a position that may be computed: `starts` has one integer for each axis. The box is
/// shifted to fit into x.
[[nodiscard]] Tensor dynamic_slice(const Tensor& x, const Tensor& starts, const Axes& lengths);
/// x with a box replaced by `piece`; the box is shifted to fit into x. Dtypes merge.
[[nodiscard]] Tensor put_slice(const Tensor& x, const Tensor& starts, const Tensor& piece);

}  // namespace stoker
