// Elements by position. An index that is out of range counts as the nearest that is not, on every device;
// indices are integers of any dtype.
//
// Threads: any. Errors are thrown: shape_mismatch, dtype_mismatch, invalid_parameter.
#pragma once

#include "stoker/api/tensor/core/axes.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// Slices of x along an axis, chosen by indices of any shape, which takes the axis' place.
[[nodiscard]] Tensor take(const Tensor& x, const Tensor& indices, std::int64_t axis = 0);
/// One element for each index; indices have x's shape beside the axis.
[[nodiscard]] Tensor take_along_axis(const Tensor& x, const Tensor& indices, std::int64_t axis = 0);
/// What stands at coordinates: the last axis of indices has one for each of `axes`, by default x's
/// leading ones.
[[nodiscard]] Tensor gather(const Tensor& x, const Tensor& indices,
                            const std::optional<Axes>& axes = {});
/// `target` with updates[i] added at the coordinates indices[i]; duplicates accumulate.
[[nodiscard]] Tensor indexed_add(const Tensor& target, const Tensor& indices, const Tensor& updates,
                                 const std::optional<Axes>& axes = {});
/// As above, but updates overwrite. For duplicate indices, which update wins is unspecified.
[[nodiscard]] Tensor indexed_put(const Tensor& target, const Tensor& indices, const Tensor& updates,
                                 const std::optional<Axes>& axes = {});
/// A box whose place is known when it runs: starts is one integer for each axis. It is moved so that it
/// fits.
[[nodiscard]] Tensor dynamic_slice(const Tensor& x, const Tensor& starts, const Axes& lengths);
/// x with `piece` in the place of a box, which is moved so that it fits. Dtypes merge.
[[nodiscard]] Tensor put_slice(const Tensor& x, const Tensor& starts, const Tensor& piece);

}  // namespace stoker
