// Elements chosen, joined and put by position.
#include <algorithm>

#include "stoker/pipeline/tensor/graph/batching.hpp"
#include "stoker/pipeline/tensor/graph/kernel_op.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::expr::ops::indexing {
namespace {

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

Values of_concatenate(const Backward& b) {
  const auto rank = static_cast<std::int64_t>(b.y().shape().rank());
  const std::int64_t given = b.attributes.integer("axis");
  const std::int64_t axis = given < 0 ? given + rank : given;
  Values gradients;
  std::int64_t start = 0;
  for (const Value& input : b.inputs) {
    const std::int64_t length = input.shape()[at(axis)];
    gradients.push_back(part(b.g(), axis, start, length));
    start += length;
  }
  return gradients;
}

/// The elements come from their places; the rest of the gradient is the padding's.
Values of_pad(const Backward& b) {
  const auto& low = b.attributes.integers("low");
  const auto& high = b.attributes.integers("high");
  const auto& interior = b.attributes.integers("interior");
  const Shape& from = b.x().shape();
  std::vector<std::int64_t> back_low;
  std::vector<std::int64_t> back_high;
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> strides;
  for (std::size_t axis = 0; axis < low.size(); ++axis) {
    back_low.push_back(-low[axis]);
    back_high.push_back(-high[axis]);
    strides.push_back(interior[axis] + 1);
    lengths.push_back(from[axis] == 0 ? 0 : (from[axis] - 1) * strides[axis] + 1);
  }
  const std::vector<std::int64_t> none(low.size(), 0);
  const Value spread = pad(b.g(), constant(0, b.g().dtype()), back_low, back_high, none);
  const Value own = slice(spread, none, lengths, strides);
  std::vector<std::int64_t> every;
  for (std::size_t axis = 0; axis < low.size(); ++axis)
    every.push_back(static_cast<std::int64_t>(axis));
  const Value rest =
      every.empty() ? b.g() - own : sum(b.g(), every, false) - sum(own, every, false);
  return {own, rest};
}

/// Coordinates as rows: [n, k].
Value rows_of(const Value& indices, std::int64_t k) {
  return reshape(indices, Shape{k == 0 ? 0 : indices.shape().elements() / k, k});
}

/// The axes of `shape` beside `axes`, behind a first one of `n`.
Shape update_shape(std::int64_t n, const Shape& shape, std::span<const std::int64_t> axes) {
  std::vector<std::int64_t> extents{n};
  for (std::size_t axis = 0; axis < shape.rank(); ++axis)
    if (std::ranges::find(axes, static_cast<std::int64_t>(axis)) == axes.end())
      extents.push_back(shape[axis]);
  return Shape::make(extents);
}

/// Each element goes back to where it was taken.
Values of_gather(const Backward& b) {
  const auto& axes = b.attributes.integers("axes");
  const Value rows = rows_of(b.x(1), static_cast<std::int64_t>(axes.size()));
  const Value updates = reshape(b.g(), update_shape(rows.shape()[0], b.x(0).shape(), axes));
  return {indexed_add(zeros_like(b.x(0)), rows, updates, axes), Value{}};
}

Values of_take(const Backward& b) {
  const auto rank = static_cast<std::int64_t>(b.x().shape().rank());
  const std::int64_t given = b.attributes.integer("axis");
  const std::int64_t axis = given < 0 ? given + rank : given;
  const auto taken = static_cast<std::int64_t>(b.x(1).shape().rank());
  // The axes of the indices first.
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < taken; ++i) order.push_back(axis + i);
  for (std::int64_t i = 0; i < rank + taken - 1; ++i)
    if (i < axis || i >= axis + taken) order.push_back(i);
  const Value rows = rows_of(b.x(1), 1);
  const Value updates =
      reshape(transpose(b.g(), order), update_shape(rows.shape()[0], b.x().shape(), {&axis, 1}));
  return {indexed_add(zeros_like(b.x()), rows, updates, {&axis, 1}), Value{}};
}

/// The whole coordinates of what take_along_axis reads, one row each.
Value coordinates(const Value& indices, std::int64_t axis) {
  const Shape& shape = indices.shape();
  std::vector<Value> columns;
  for (std::size_t i = 0; i < shape.rank(); ++i)
    columns.push_back(reshape(static_cast<std::int64_t>(i) == axis ? cast(indices, DType::s32)
                                                                   : iota({DType::s32, shape}, i),
                              Shape{shape.elements(), 1}));
  return concatenate(columns, 1);
}

Values of_take_along_axis(const Backward& b) {
  const auto rank = static_cast<std::int64_t>(b.x().shape().rank());
  const std::int64_t given = b.attributes.integer("axis");
  const Value rows = coordinates(b.x(1), given < 0 ? given + rank : given);
  return {indexed_add(zeros_like(b.x()), rows, reshape(b.g(), Shape{b.g().shape().elements()}),
                      all_axes(b.x().shape().rank())),
          Value{}};
}

Values of_indexed_add(const Backward& b) {
  return {b.g(), Value{},
          reshape(gather(b.g(), b.x(1), b.attributes.integers("axes")), b.x(2).shape())};
}

Values of_indexed_put(const Backward& b) {
  const auto& axes = b.attributes.integers("axes");
  return {indexed_put(b.g(), b.x(1), zeros_like(b.x(2)), axes), Value{},
          reshape(gather(b.g(), b.x(1), axes), b.x(2).shape())};
}

/// All elements that are the extreme, of the target and of the updates, share what comes back.
Values of_indexed_extreme(const Backward& b) {
  const auto& axes = b.attributes.integers("axes");
  const auto picked = [&](const Value& from) {
    return reshape(gather(from, b.x(1), axes), b.x(2).shape());
  };
  const Value stays = cast(scalar("equal", {b.x(0), b.y()}), b.y().dtype());
  const Value comes = cast(scalar("equal", {b.x(2), picked(b.y())}), b.y().dtype());
  const Value share = b.g() / indexed_add(stays, b.x(1), comes, axes);
  return {share * stays, Value{}, picked(share) * comes};
}

Value put_slice(const Value& target, const Value& piece, const Value& starts) {
  static constinit NamedOp op{"put_slice"};
  return apply_one(op, {target, piece, starts});
}

Values of_dynamic_slice(const Backward& b) {
  const auto& lengths = b.attributes.integers("lengths");
  const auto& strides = b.attributes.integers("strides");
  std::vector<std::int64_t> low(lengths.size(), 0);
  std::vector<std::int64_t> high(lengths.size());
  std::vector<std::int64_t> interior(lengths.size(), 0);
  for (std::size_t axis = 0; axis < lengths.size(); ++axis) {
    const std::int64_t taken = b.g().shape()[axis];
    interior[axis] = axis < strides.size() ? strides[axis] - 1 : 0;
    high[axis] = lengths[axis] - (taken == 0 ? 0 : (taken - 1) * (interior[axis] + 1) + 1);
  }
  const Value piece = pad(b.g(), constant(0, b.g().dtype()), low, high, interior);
  return {put_slice(zeros_like(b.x()), piece, b.x(1)), Value{}};
}

Values of_put_slice(const Backward& b) {
  static constinit NamedOp dynamic_slice{"dynamic_slice"};
  const Value piece = apply_one(dynamic_slice, {b.g(), b.x(2)},
                                {{"lengths", as_list(b.x(1).shape().extents())},
                                 {"strides", std::vector<std::int64_t>(b.x(1).shape().rank(), 1)}});
  return {put_slice(b.g(), zeros_like(b.x(1)), b.x(2)), piece, Value{}};
}

// --- of all elements at once ---------------------------------------------------------------------

/// Which element they are of, as one more coordinate before those of `indices` [size, …, k].
Value with_element(const Value& indices) {
  const Shape& shape = indices.shape();
  const TensorSpec own{DType::s32, shape.with(shape.rank() - 1, 1)};
  const std::array parts{iota(own, 0), cast(indices, DType::s32)};
  return concatenate(parts, static_cast<std::int64_t>(shape.rank()) - 1);
}

/// The axes of one element's coordinates; none given are the leading ones.
std::vector<std::int64_t> coordinate_axes(const Batch& b) {
  const auto& given = b.attributes.integers("axes");
  const Shape indices = element_spec(b, 1).shape;
  const auto k = static_cast<std::size_t>(indices[indices.rank() - 1]);
  return shifted(given.empty() ? all_axes(k) : given, element_spec(b).shape.rank());
}

Values batch_gather(const Batch& b) {
  if (!b.is_mapped(0)) return apply(b.op, {b.x(0), b.x(1)}, b.attributes);
  const std::vector<std::int64_t> axes = coordinate_axes(b);
  if (b.is_mapped(1)) return {gather(b.x(0), with_element(b.x(1)), prefixed(0, axes))};
  // Without coordinates no axes are named, and that would mean the leading ones.
  if (axes.empty()) return {gather(b.x(0), with_element(spread(b, 1)), prefixed(0, axes))};
  return {moved_to_front(gather(b.x(0), b.x(1), axes), b.x(1).shape().rank() - 1)};
}

Values batch_take(const Batch& b) {
  const std::size_t rank = element_spec(b).shape.rank();
  const std::int64_t axis = shifted(b.attributes.integer("axis"), rank);
  if (!b.is_mapped(1)) return apply(b.op, {b.x(0), b.x(1)}, {{"axis", axis}});
  const auto taken = static_cast<std::int64_t>(b.x(1).shape().rank());
  if (!b.is_mapped(0)) {
    const Value y = apply_one(b.op, {b.x(0), b.x(1)}, {{"axis", axis - 1}});
    return {moved_to_front(y, at(axis - 1))};
  }
  const Shape columns = b.x(1).shape().appended(1);
  const std::array<std::int64_t, 2> axes{0, axis};
  const Value y = gather(b.x(0), with_element(reshape(b.x(1), columns)), axes);
  // [size, indices…, rest…]: the indices' axes go where the axis was.
  std::vector<std::int64_t> order{0};
  const auto all = static_cast<std::int64_t>(y.shape().rank());
  for (std::int64_t i = taken; i < taken + axis - 1; ++i) order.push_back(i);
  for (std::int64_t i = 1; i < taken; ++i) order.push_back(i);
  for (std::int64_t i = taken + axis - 1; i < all; ++i) order.push_back(i);
  return {transpose(y, order)};
}

/// All rows one below the other, each with its element's number.
Values batch_indexed(const Batch& b) {
  const Value indices = with_element(spread(b, 1));
  const Value updates = spread(b, 2);
  const std::vector<std::int64_t> axes = prefixed(0, coordinate_axes(b));
  const auto k = static_cast<std::int64_t>(axes.size());
  const std::int64_t rows = indices.shape().elements() / k;
  const Shape wanted = update_shape(rows, spread(b, 0).shape(), axes);
  return apply(b.op, {spread(b, 0), reshape(indices, Shape{rows, k}), reshape(updates, wanted)},
               {{"axes", axes}});
}

/// The starts of a box of all elements, where they do not differ.
Value starts_of_all(const Value& starts) {
  const std::array parts{constant(0, starts.dtype(), Shape{1}), starts};
  return concatenate(parts, 0);
}

Values batch_dynamic_slice(const Batch& b) {
  if (b.is_mapped(1)) return batch_one_by_one(b);
  return apply(b.op, {b.x(0), starts_of_all(b.x(1))},
               {{"lengths", prefixed(b.size, b.attributes.integers("lengths"))},
                {"strides", prefixed(1, b.attributes.integers("strides"))}});
}

Values batch_put_slice(const Batch& b) {
  if (b.is_mapped(2)) return batch_one_by_one(b);
  return apply(b.op, {spread(b, 0), spread(b, 1), starts_of_all(b.x(2))});
}

/// What is put around is one number; where that differs, it is chosen afterwards.
Values batch_pad(const Batch& b) {
  const std::vector<std::int64_t> low = prefixed(0, b.attributes.integers("low"));
  const std::vector<std::int64_t> high = prefixed(0, b.attributes.integers("high"));
  const std::vector<std::int64_t> interior = prefixed(0, b.attributes.integers("interior"));
  if (!b.is_mapped(1)) return {pad(b.x(0), b.x(1), low, high, interior)};
  const Value x = spread(b, 0);
  const Value y = pad(x, constant(0, x.dtype()), low, high, interior);
  const Value inside =
      pad(constant(1, DType::u8, x.shape()), constant(0, DType::u8), low, high, interior);
  std::vector<std::int64_t> extents(y.shape().rank(), 1);
  extents[0] = b.size;
  return {select(inside, y, reshape(b.x(1), Shape::make(extents, "vmap")))};
}

Op indexing_op(const char* name, Values (*gradient)(const Backward&),
               Values (*batch)(const Batch&)) {
  Op op = kernel_op(name, name, gradient);
  op.batch = batch;
  return op;
}

}  // namespace

void define(OpTable& table) {
  table.add(indexing_op("take", &of_take, &batch_take));
  table.add(indexing_op("take_along_axis", &of_take_along_axis, &batch_axis));
  table.add(indexing_op("gather", &of_gather, &batch_gather));
  table.add(indexing_op("indexed_add", &of_indexed_add, &batch_indexed));
  // No gradient: where a factor is 0, the product of the others cannot be had by dividing by it.
  table.add(indexing_op("indexed_multiply", nullptr, &batch_indexed));
  table.add(indexing_op("indexed_max", &of_indexed_extreme, &batch_indexed));
  table.add(indexing_op("indexed_min", &of_indexed_extreme, &batch_indexed));
  table.add(indexing_op("indexed_put", &of_indexed_put, &batch_indexed));
  table.add(indexing_op("dynamic_slice", &of_dynamic_slice, &batch_dynamic_slice));
  table.add(indexing_op("put_slice", &of_put_slice, &batch_put_slice));
  table.add(indexing_op("concatenate", &of_concatenate, &batch_axis));
  table.add(indexing_op("pad", &of_pad, &batch_pad));
}

}  // namespace stoker::expr::ops::indexing
