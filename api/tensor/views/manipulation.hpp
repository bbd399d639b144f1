// Reshapes, reorders, joins and cuts tensors. Operations that only change the reading order cost
// nothing by themselves: users of the result read through them.
//
// Threads: any. Errors are thrown: shape_mismatch, invalid_parameter, dtype_mismatch.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stoker/api/tensor/core/axes.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// The same elements in another shape. One extent may be -1 and is then inferred.
[[nodiscard]] Tensor reshape(const Tensor& x, std::span<const std::int64_t> extents);
[[nodiscard]] Tensor reshape(const Tensor& x, std::initializer_list<std::int64_t> extents);
[[nodiscard]] Tensor reshape(const Tensor& x, const Shape& shape);
/// Flattens to one axis.
[[nodiscard]] Tensor flatten(const Tensor& x);
/// Removes these axes, which must have extent 1; by default all axes of extent 1.
[[nodiscard]] Tensor squeeze(const Tensor& x, const std::optional<Axes>& axes = {});
/// Inserts an axis of extent 1 before `axis`; negative values count from the result's end.
[[nodiscard]] Tensor new_axis(const Tensor& x, std::int64_t axis);
/// Broadcasts to a shape, aligned right.
[[nodiscard]] Tensor broadcast(const Tensor& x, const Shape& shape);
/// Broadcasts to a shape: axis i of x becomes axis axes[i].
[[nodiscard]] Tensor broadcast(const Tensor& x, const Shape& shape, const Axes& axes);
/// Axis i of the result is axis axes[i] of x; by default the axes are reversed.
[[nodiscard]] Tensor transpose(const Tensor& x, const std::optional<Axes>& axes = {});
/// Reverses the elements along axes, by default along all.
[[nodiscard]] Tensor reverse(const Tensor& x, const std::optional<Axes>& axes = {});
/// Repeats x repetitions[i] times along axis i; a longer list adds leading axes.
[[nodiscard]] Tensor tile(const Tensor& x, std::span<const std::int64_t> repetitions);
[[nodiscard]] Tensor tile(const Tensor& x, std::initializer_list<std::int64_t> repetitions);

/// A box: from starts[i], every strides[i]-th of lengths[i] elements. A start is shifted so that
/// the length fits.
[[nodiscard]] Tensor slice(const Tensor& x, const Axes& starts, const Axes& lengths,
                           const std::optional<Axes>& strides = {});
[[nodiscard]] Tensor slice_along_axis(const Tensor& x, std::int64_t start, std::int64_t length,
                                      std::int64_t axis = 0, std::int64_t stride = 1);

/// The padding of an axis: `low` and `high` elements at its ends (negative values crop), `interior`
/// elements between neighbours.
struct Padding {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t interior = 0;
};
/// Pads x with `value`, one Padding for each axis. Negative `low` and `high` crop.
[[nodiscard]] Tensor pad(const Tensor& x, const TensorLike& value,
                         const std::vector<Padding>& padding);

/// Joins tensors along an axis. Dtypes merge.
[[nodiscard]] Tensor concatenate(std::span<const Tensor> tensors, std::int64_t axis = 0);
[[nodiscard]] Tensor concatenate(std::initializer_list<Tensor> tensors, std::int64_t axis = 0);
/// Joins tensors along a new axis.
[[nodiscard]] Tensor stack(std::span<const Tensor> tensors, std::int64_t axis = 0);
[[nodiscard]] Tensor stack(std::initializer_list<Tensor> tensors, std::int64_t axis = 0);
/// The first `size` elements along an axis, and the rest. Neither part may be empty.
[[nodiscard]] std::pair<Tensor, Tensor> split(const Tensor& x, std::int64_t size,
                                              std::int64_t axis = 0);

/// Sets elements of the last two axes to 0: tril() those above diagonal k, triu() those below it.
[[nodiscard]] Tensor tril(const Tensor& x, std::int64_t k = 0);
[[nodiscard]] Tensor triu(const Tensor& x, std::int64_t k = 0);

}  // namespace stoker
