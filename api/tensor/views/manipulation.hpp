// Tensors under other shapes and in other orders, joined and cut. What only changes the order of
// reading costs nothing by itself: whoever uses the result reads through it.
//
// Threads: any. Errors are thrown: shape_mismatch, invalid_parameter, dtype_mismatch.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stoker/api/tensor/core/axes.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// The same elements. One extent may be -1: whatever is left.
[[nodiscard]] Tensor reshape(const Tensor& x, std::span<const std::int64_t> extents);
[[nodiscard]] Tensor reshape(const Tensor& x, std::initializer_list<std::int64_t> extents);
[[nodiscard]] Tensor reshape(const Tensor& x, const Shape& shape);
/// Into one axis.
[[nodiscard]] Tensor flatten(const Tensor& x);
/// Without the axes, which have extent 1; without all such axes.
[[nodiscard]] Tensor squeeze(const Tensor& x, const std::optional<Axes>& axes = {});
/// With one more axis of extent 1 before `axis`; negative ones count from the result's end.
[[nodiscard]] Tensor new_axis(const Tensor& x, std::int64_t axis);
/// Repeated to a shape, aligned right.
[[nodiscard]] Tensor broadcast(const Tensor& x, const Shape& shape);
/// Repeated to a shape: axis i of x is axis axes[i] of it.
[[nodiscard]] Tensor broadcast(const Tensor& x, const Shape& shape, const Axes& axes);
/// Axis i of the result is axis axes[i] of x; without axes in reverse order.
[[nodiscard]] Tensor transpose(const Tensor& x, const std::optional<Axes>& axes = {});
/// Backwards along axes; along all.
[[nodiscard]] Tensor reverse(const Tensor& x, const std::optional<Axes>& axes = {});
/// x repeated, repetitions[i] times along axis i; a longer list adds axes in front.
[[nodiscard]] Tensor tile(const Tensor& x, std::span<const std::int64_t> repetitions);
[[nodiscard]] Tensor tile(const Tensor& x, std::initializer_list<std::int64_t> repetitions);

/// A box: from starts[i] on, lengths[i] elements, of which every strides[i]-th. A start is moved so that
/// the length fits.
[[nodiscard]] Tensor slice(const Tensor& x, const Axes& starts, const Axes& lengths,
                           const std::optional<Axes>& strides = {});
[[nodiscard]] Tensor slice_along_axis(const Tensor& x, std::int64_t start, std::int64_t length,
                                      std::int64_t axis = 0, std::int64_t stride = 1);

/// How an axis is padded: `low` and `high` elements at its ends (negative ones crop), `interior` between
/// neighbours.
struct Padding {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t interior = 0;
};
/// Pads x with `value`, one Padding for each axis. Negative `low` and `high` crop.
[[nodiscard]] Tensor pad(const Tensor& x, const TensorLike& value,
                         const std::vector<Padding>& padding);

/// One behind the other along an axis. Dtypes merge.
[[nodiscard]] Tensor concatenate(std::span<const Tensor> tensors, std::int64_t axis = 0);
[[nodiscard]] Tensor concatenate(std::initializer_list<Tensor> tensors, std::int64_t axis = 0);
/// Along a new axis.
[[nodiscard]] Tensor stack(std::span<const Tensor> tensors, std::int64_t axis = 0);
[[nodiscard]] Tensor stack(std::initializer_list<Tensor> tensors, std::int64_t axis = 0);
/// The first `size` along an axis, and the rest. Both have at least one.
[[nodiscard]] std::pair<Tensor, Tensor> split(const Tensor& x, std::int64_t size,
                                              std::int64_t axis = 0);

/// 0 above diagonal k of the last two axes; below it.
[[nodiscard]] Tensor tril(const Tensor& x, std::int64_t k = 0);
[[nodiscard]] Tensor triu(const Tensor& x, std::int64_t k = 0);

}  // namespace stoker
