// Fewer elements out of many.
#include <algorithm>

#include "stoker/pipeline/tensor/graph/batching.hpp"
#include "stoker/pipeline/tensor/graph/kernel_op.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::expr::ops::reductions {
namespace {

const std::vector<std::int64_t>& axes_of(const Backward& b) {
  return b.attributes.integers("axes");
}

/// A reduced value over its input's shape again.
Value spread(const Backward& b, const Value& reduced) {
  return broadcast_to(keep_axes(reduced, b.x().shape(), axes_of(b)), b.x().shape());
}

double reduced_count(const Backward& b) {
  return static_cast<double>(b.x().shape().elements()) /
         static_cast<double>(std::max<std::int64_t>(b.y().shape().elements(), 1));
}

Values of_sum(const Backward& b) { return {spread(b, b.g())}; }

Values of_mean(const Backward& b) { return {spread(b, b.g() / reduced_count(b))}; }

/// Shared evenly among all that equal the extreme.
Values of_extreme(const Backward& b) {
  const DType dtype = b.x().dtype();
  const Value best = cast(scalar("equal", {b.x(), spread(b, b.y())}), dtype);
  const Value count = sum(best, axes_of(b), false);
  return {best * spread(b, reshape(b.g(), count.shape()) / count)};
}

/// For each element the product of all others along the axis. Elements are multiplied in pairs, and what is
/// beside a pair counts for both: products from one end on may leave the range where the whole does not.
Value product_of_others(const Value& x, std::int64_t axis) {
  const std::int64_t n = x.shape()[static_cast<std::size_t>(axis)], half = n / 2;
  if (half == 0) return ones_like(x);
  const Value a = part(x, axis, 0, half), b = part(x, axis, half, half);
  const bool one_left = n % 2 != 0;
  const auto joined = [&](Values parts) { return concatenate(parts, axis); };
  const Value pairs = one_left ? joined({a * b, part(x, axis, n - 1, 1)}) : a * b;
  const Value others = product_of_others(pairs, axis);
  const Value of_pairs = one_left ? part(others, axis, 0, half) : others;
  Values all{of_pairs * b, of_pairs * a};
  if (one_left) all.push_back(part(others, axis, half, 1));
  return joined(std::move(all));
}

/// The product of the others, one axis after the other. Nothing is divided and nothing asks where zeros
/// are, so it holds for any of them, and so do its own gradients.
Values of_product(const Backward& b) {
  static constinit NamedOp product{"product"};
  const DType dtype = b.x().dtype();
  const DType wide = size_of(dtype) == 2 ? DType::f32 : dtype;
  const auto rank = static_cast<std::int64_t>(b.x().shape().rank());
  Value left = cast(b.x(), wide);  // reduced along the axes that are done
  Value others = cast(spread(b, b.g()), wide);
  for (std::int64_t axis : axes_of(b).empty() ? all_axes(b.x().shape().rank()) : axes_of(b)) {
    if (axis < 0) axis += rank;
    if (left.shape()[static_cast<std::size_t>(axis)] > 1)
      others = others * product_of_others(left, axis);
    left = apply_one(product, {left}, {{"axes", std::vector{axis}}, {"keepdims", true}});
  }
  return {cast(others, dtype)};
}

/// No axes are all of an element's. A scalar is reduced along an axis of its own.
Values batch_reduction(const Batch& b) {
  const std::size_t rank = element_spec(b).shape.rank();
  if (rank == 0)
    return apply(b.op, {reshape(b.x(), Shape{b.size, 1})},
                 with(b.attributes, {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", false}}));
  const auto& given = b.attributes.integers("axes");
  const auto axes = shifted(given.empty() ? all_axes(rank) : given, rank);
  return apply(b.op, {b.x()}, with(b.attributes, {{"axes", axes}}));
}

Op reduction(std::string name, std::string_view kernel,
             std::function<Values(const Backward&)> gradient) {
  Op op = kernel_op(std::move(name), kernel, std::move(gradient));
  op.batch = &batch_reduction;
  return op;
}

Op without_gradient(std::string name, std::string_view kernel) {
  Op op = kernel_op(std::move(name), kernel);
  op.zero_gradient = true;
  op.batch = &batch_reduction;
  return op;
}

}  // namespace

void define(OpTable& table) {
  table.add(reduction("sum", "reduce_sum", &of_sum));
  table.add(reduction("mean", "reduce_mean", &of_mean));
  table.add(reduction("reduce_max", "reduce_max", &of_extreme));
  table.add(reduction("reduce_min", "reduce_min", &of_extreme));
  table.add(reduction("product", "reduce_product", &of_product));
  table.add(without_gradient("all", "reduce_all"));
  table.add(without_gradient("any", "reduce_any"));
  for (const char* name : {"argmax", "argmin"}) {
    Op op = without_gradient(name, name);
    op.batch = &batch_axis;
    table.add(std::move(op));
  }
}

}  // namespace stoker::expr::ops::reductions
