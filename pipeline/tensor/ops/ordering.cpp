// Scans and sorts along an axis.
#include "stoker/pipeline/tensor/batching.hpp"
#include "stoker/pipeline/tensor/kernel_op.hpp"
#include "stoker/pipeline/tensor/primitives.hpp"

namespace stoker::expr::ops::ordering {
namespace {

Values of_cumulative_sum(const Backward& b) {
  static const Op& op = find_op("cumulative_sum");
  return {apply_one(
      op, {b.g()},
      {{"axis", b.attributes.integer("axis")}, {"reverse", !b.attributes.flag("reverse")}})};
}

std::int64_t axis_of(const Backward& b) {
  const std::int64_t axis = b.attributes.integer("axis");
  return axis < 0 ? axis + static_cast<std::int64_t>(b.x().shape().rank()) : axis;
}

Value scanned(const char* op, const Value& x, std::int64_t axis, bool reverse) {
  return apply_one(find_op(op), {x}, {{"axis", axis}, {"reverse", reverse}});
}

/// y[i] = Π x[k], k up to i. Up to the first zero: the sum of g·y from each place on, divided by x. At
/// the zero: the same sum with a 1 in its place. Behind it nothing counts. (The second derivative by a
/// zero and by what is behind it is taken as 0.)
Values of_cumulative_product(const Backward& b) {
  const std::int64_t axis = axis_of(b);
  const bool reverse = b.attributes.flag("reverse");
  const Value& x = b.x();
  const DType dtype = x.dtype();
  const Value zero = constant(0, dtype);
  const Value one = constant(1, dtype);
  const Value is_zero = scalar("equal", {x, zero});
  const Value zeros = scanned("cumulative_sum", cast(is_zero, dtype), axis, reverse);
  const Value is_first = scalar("logical_and", {is_zero, scalar("equal", {zeros, one})});
  const Value healed = scanned("cumulative_product", select(is_first, one, x), axis, reverse);
  const Value before =
      scanned("cumulative_sum", b.g() * b.y(), axis, !reverse) / select(is_zero, one, x);
  const Value at_first = scanned("cumulative_sum", b.g() * healed, axis, !reverse);
  return {select(is_first, at_first, select(scalar("equal", {zeros, zero}), before, zero))};
}

/// To the place that each extreme came from: of equal ones the first that the scan met.
Values of_cumulative_extreme(const Backward& b) {
  const std::int64_t axis = axis_of(b);
  const bool reverse = b.attributes.flag("reverse");
  const Shape& shape = b.x().shape();
  const std::int64_t n = shape[static_cast<std::size_t>(axis)];
  if (n == 0) return {b.g()};
  // Where the scan's value is another than one step before, this element made it.
  std::vector<std::int64_t> low(shape.rank(), 0);
  std::vector<std::int64_t> high(shape.rank(), 0);
  low[static_cast<std::size_t>(axis)] = reverse ? -1 : 1;
  high[static_cast<std::size_t>(axis)] = reverse ? 1 : -1;
  const Value previous =
      pad(b.y(), constant(0, b.y().dtype()), low, high, std::vector<std::int64_t>(shape.rank(), 0));
  const TensorSpec positions{DType::s32, shape};
  const Value place = iota(positions, static_cast<std::size_t>(axis));
  const Value start = constant(static_cast<double>(reverse ? n - 1 : 0), DType::s32);
  const Value is_new = scalar("not_equal", {b.y(), previous});
  const Value origin = scanned(reverse ? "cumulative_min" : "cumulative_max",
                               select(is_new, place, start), axis, reverse);
  static const Op& along = find_op("take_along_axis");
  const Values inputs{b.x(), origin};
  return {along.gradient({inputs, b.outputs, b.gradients, Attributes{{"axis", axis}}})[0]};
}

/// Sorted by a permutation; its inverse brings the gradient back.
Values of_sort(const Backward& b) {
  static const Op& argsort = find_op("argsort");
  const Value order = apply_one(argsort, {b.x()}, Attributes{b.attributes.params()});
  const Value inverse =
      apply_one(argsort, {order}, {{"axis", axis_of(b)}, {"direction", std::string{"asc"}}});
  return {take_along_axis(b.g(), inverse, axis_of(b))};
}

/// The k largest go back to where they were.
Values of_top_k(const Backward& b) {
  if (!b.g(0)) return {Value{}};
  static const Op& along = find_op("take_along_axis");
  const auto axis = static_cast<std::int64_t>(b.x().shape().rank()) - 1;
  const Values inputs{b.x(), b.y(1)};
  const Values outputs{b.y(0)};
  const Values gradients{b.g(0)};
  return {along.gradient({inputs, outputs, gradients, Attributes{{"axis", axis}}})[0]};
}

Op along_axis(const char* name, Values (*gradient)(const Backward&)) {
  Op op = kernel_op(name, name, gradient);
  op.batch = &batch_axis;
  return op;
}

}  // namespace

void define(OpTable& table) {
  table.add(along_axis("cumulative_sum", &of_cumulative_sum));
  table.add(along_axis("cumulative_product", &of_cumulative_product));
  table.add(along_axis("cumulative_max", &of_cumulative_extreme));
  table.add(along_axis("cumulative_min", &of_cumulative_extreme));
  table.add(along_axis("sort", &of_sort));
  Op argsort = along_axis("argsort", nullptr);
  argsort.zero_gradient = true;
  table.add(std::move(argsort));
  Op top_k = kernel_op("top_k", "top_k", &of_top_k);
  top_k.batch = &batch_leading;
  table.add(std::move(top_k));
}

}  // namespace stoker::expr::ops::ordering
