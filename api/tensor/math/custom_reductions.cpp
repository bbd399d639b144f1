#include "stoker/api/tensor/math/custom_reductions.hpp"

#include <algorithm>

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker {
namespace {

Tensor combined(const char* op, const Combine& function, const Tensor& a, const Tensor& b) {
  Tensor made = function(a, b);
  if (!made.has_value() || made.spec() != b.spec())
    throw Error{op,
                ErrorCode::shape_mismatch,
                "the function of two " + b.spec().to_string() + " gives " +
                    (made.has_value() ? made.spec().to_string() : std::string{"nothing"}),
                {{"expected", b.spec().to_string()}}};
  return made;
}

DType dtype_with(const Tensor& x, const TensorLike& start) {
  return start.is_literal() ? expr::merged(x.dtype(), start.literal())
                            : expr::merged(x.dtype(), start.dtype());
}

Tensor start_of(const char* op, const TensorLike& start, DType dtype) {
  const Tensor made{start.as(dtype)};
  if (made.rank() != 0)
    throw Error{op,
                ErrorCode::shape_mismatch,
                "expected a scalar to start from, got " + made.spec().to_string(),
                {{"got", made.spec().to_string()}}};
  return made;
}

/// Every second of the first axis, from `from` on.
Tensor every_second(const Tensor& x, std::int64_t from, std::int64_t pairs) {
  return slice_along_axis(x, from, 2 * pairs - 1, 0, 2);
}

}  // namespace

Tensor reduce(const Tensor& x, const TensorLike& start, const Combine& function,
              const Reduce& over) {
  const Axes axes = detail::checked_axes("reduce", over.axes, x.rank());
  const DType dtype = dtype_with(x, start);
  const Tensor first = start_of("reduce", start, dtype);
  // The axes that go become the first one.
  Axes order = axes;
  std::vector<std::int64_t> rest;
  std::vector<std::int64_t> kept;
  std::int64_t n = 1;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(x.rank()); ++axis) {
    const std::int64_t extent = x.shape()[static_cast<std::size_t>(axis)];
    const bool goes = std::ranges::binary_search(axes, axis);
    if (goes) n *= extent;
    if (!goes) {
      order.push_back(axis);
      rest.push_back(extent);
    }
    kept.push_back(goes ? 1 : extent);
  }
  std::vector<std::int64_t> rows{n};
  rows.insert(rows.end(), rest.begin(), rest.end());
  const Shape wanted = Shape::make(over.keepdims ? kept : rest, "reduce");
  const Shape reduced = Shape::make(rest, "reduce");
  const Tensor from = broadcast(first, reduced);
  if (n == 0) return reshape(from, wanted);

  Tensor left = reshape(transpose(as_type(x, dtype), order), rows);
  std::vector<Tensor> odd;  // what had no neighbour, the last first
  while (left.shape()[0] > 1) {
    const std::int64_t length = left.shape()[0];
    const std::int64_t pairs = length / 2;
    if (length % 2 == 1) odd.push_back(slice_along_axis(left, length - 1, 1));
    left = combined("reduce", function, every_second(left, 0, pairs), every_second(left, 1, pairs));
  }
  for (std::size_t i = odd.size(); i-- > 0;) left = combined("reduce", function, left, odd[i]);
  return reshape(combined("reduce", function, from, reshape(left, reduced)), wanted);
}

Tensor window_reduce(const Tensor& x, const TensorLike& start, const Window& window,
                     const Combine& function) {
  const detail::CompleteWindow all = detail::complete_window("window_reduce", x, window);
  const DType dtype = dtype_with(x, start);
  const Tensor first = start_of("window_reduce", start, dtype);
  std::vector<Padding> padding;
  std::vector<std::int64_t> extents;
  std::int64_t positions = 1;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    const std::int64_t reach = (all.window[axis] - 1) * all.dilations[axis] + 1;
    const std::int64_t padded = x.shape()[axis] + all.low[axis] + all.high[axis];
    if (all.window[axis] < 1 || all.strides[axis] < 1 || all.dilations[axis] < 1 || padded < reach)
      throw Error{"window_reduce",
                  ErrorCode::invalid_parameter,
                  "a window that reaches over " + std::to_string(reach) + " of " +
                      std::to_string(padded) + " elements of axis " + std::to_string(axis),
                  {{"input", x.spec().to_string()}, {"axis", std::to_string(axis)}}};
    padding.push_back({all.low[axis], all.high[axis], 0});
    extents.push_back((padded - reach) / all.strides[axis] + 1);
    positions *= all.window[axis];
  }
  const Tensor wide = pad(as_type(x, dtype), first, padding);
  Tensor result = broadcast(first, Shape::make(extents, "window_reduce"));
  for (std::int64_t position = 0; position < positions; ++position) {
    Axes starts(x.rank());
    Axes lengths(x.rank());
    std::int64_t left = position;
    for (std::size_t axis = x.rank(); axis-- > 0;) {
      starts[axis] = left % all.window[axis] * all.dilations[axis];
      lengths[axis] = (extents[axis] - 1) * all.strides[axis] + 1;
      left /= all.window[axis];
    }
    const Tensor one{expr::slice(wide.value(), starts, lengths, all.strides)};
    result = combined("window_reduce", function, result, one);
  }
  return result;
}

}  // namespace stoker
