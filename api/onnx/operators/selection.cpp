// Elements that are found by their values: how many there are is known only when they are counted.
//
// Each puts what it finds in front of a tensor of the most there can be, and gives the first `count` of them.
#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/ordering.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::selection {
namespace {

/// The positions of what is not 0 in a vector, ascending. Makes a cut.
Tensor places_of(const Call& call, const Tensor& flags) {
  const Tensor marks = as_type(flags, DType::u8);
  const Value order = call.keep(Value{argsort(marks, 0, Direction::descending)});
  const std::int64_t count =
      call.walker().know(call.keep(Value{sum(as_type(marks, DType::s32))})).to_integers()[0];
  if (count == 0) return zeros(Shape{0}, DType::s32);
  return slice_along_axis(order.tensor(), 0, count, 0);
}

Values non_zero(Call& call) {
  const Shape shape = call.shape();
  if (shape.elements() == 0) return {Value{zeros(Shape{call.rank(), 0}, DType::s64)}};
  const Tensor places = as_type(places_of(call, flatten(not_equal(call.x(), 0))), DType::s64);
  // A scalar counts as a vector of one element, without axes to speak of.
  if (shape.rank() == 0) return {Value{zeros(Shape{0, places.shape()[0]}, DType::s64)}};
  std::vector<Tensor> rows;
  const auto strides = shape.strides();
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    const Tensor above = quotient(places, full_like(places, strides[axis]));
    rows.push_back(axis == 0 ? above : remainder(above, full_like(above, shape[axis])));
  }
  return {Value{stack(rows)}};
}

Values compress(Call& call) {
  const bool is_flat = !call.node().has("axis");
  const std::int64_t axis = is_flat ? 0 : axis_in(call.node().integer("axis"), call.rank());
  const std::int64_t extent =
      is_flat ? call.shape().elements() : call.shape()[static_cast<std::size_t>(axis)];
  if (call.rank(1) != 1) call.refuse(ErrorCode::shape_mismatch, "the condition must be a vector");
  Tensor condition = call.x(1);
  const std::int64_t given = std::min(condition.shape()[0], extent);
  condition = given == 0 ? zeros(Shape{0}, DType::u8) : slice_along_axis(condition, 0, given);
  const Tensor places = places_of(call, condition);
  const Tensor x = is_flat ? flatten(call.x()) : call.x();
  if (places.size() == 0)
    return {call.like(zeros(x.shape().with(static_cast<std::size_t>(axis), 0), x.dtype()))};
  return {call.like(take(x, places, axis))};
}

/// Rows sorted and compared with their neighbours.
Values unique(Call& call) {
  const bool is_flat = !call.node().has("axis");
  const std::int64_t axis = is_flat ? 0 : axis_in(call.node().integer("axis"), call.rank());
  const Tensor x = is_flat ? flatten(call.x()) : call.x();
  Axes order{axis};
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(x.rank()); ++i)
    if (i != axis) order.push_back(i);
  const std::int64_t n = x.shape()[static_cast<std::size_t>(axis)];
  if (n == 0) {
    const Value none{zeros(Shape{0}, DType::s64)};
    return {call.like(x), none, none, none};
  }
  if (x.size() == 0) call.refuse(ErrorCode::unsupported, "of no elements");
  const std::int64_t m = x.shape().elements() / n;
  if (m > 256) call.refuse(ErrorCode::limit_exceeded, "slices of more than 256 elements");
  const Tensor rows = reshape(transpose(x, order), {n, m});
  // By the last column first: each sort keeps the order of the one before among equals.
  Tensor at = iota({n}, DType::s32);
  for (std::int64_t column = m; column-- > 0;) {
    const Tensor key = take(reshape(slice_along_axis(rows, column, 1, 1), {n}), at);
    at = take(at, argsort(key));
  }
  const Tensor sorted = take(rows, at, 0);
  Tensor is_new = ones({1}, DType::u8);
  if (n > 1)
    is_new = concatenate({is_new, any(not_equal(slice_along_axis(sorted, 1, n - 1),
                                                slice_along_axis(sorted, 0, n - 1)),
                                      {.axes = Axes{1}})});
  const Tensor group = cumulative_sum(as_type(is_new, DType::s32)) - 1;
  Value kept_at = call.keep(Value{at});
  Value kept_x = call.keep(Value{x});
  Value inverse = call.keep(Value{indexed_put(zeros({n}, DType::s32), reshape(at, {n, 1}), group)});
  const Tensor heads = places_of(call, is_new);
  const std::int64_t count = heads.shape()[0];
  Tensor first = take(kept_at.tensor(), heads);
  Tensor ends = full({1}, n, DType::s32);
  if (count > 1) ends = concatenate({slice_along_axis(heads, 1, count - 1), ends});
  Tensor counts = ends - heads;
  Tensor group_of = inverse.tensor();
  if (!call.node().flag("sorted", true)) {
    const Tensor by_first = argsort(first);
    first = take(first, by_first);
    counts = take(counts, by_first);
    group_of = take(argsort(by_first), group_of);
  }
  const auto as_index = [](const Tensor& tensor) { return Value{as_type(tensor, DType::s64)}; };
  return {call.like(take(kept_x.tensor(), first, axis)), as_index(first), as_index(group_of),
          as_index(counts)};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "NonZero",
             .since = {9, 13},
             .types = {.operands = {wide_types}, .results = {ElementType::s64}},
             .lower = &non_zero});
  table.add({.name = "Compress",
             .since = {9, 11},
             .least_inputs = 2,
             .most_inputs = 2,
             .types = {.operands = {any_type, ElementType::boolean}, .results = {like(0)}},
             .attributes = {"axis"},
             .lower = &compress,
             .moves = true});
  table.add({.name = "Unique",
             .since = {11},
             .most_outputs = 4,
             .types = {.operands = {wide_types}, .results = {like(0), ElementType::s64}},
             .attributes = {"axis", "sorted"},
             .lower = &unique});
}

}  // namespace stoker::onnx::operators::selection
