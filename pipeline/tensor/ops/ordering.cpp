// Scans and sorts along an axis.
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

Op without_gradient(std::string name) {
  const std::string kernel = name;
  Op op = kernel_op(std::move(name), kernel);
  op.zero_gradient = true;
  return op;
}

}  // namespace

void define(OpTable& table) {
  table.add(kernel_op("cumulative_sum", "cumulative_sum", &of_cumulative_sum));
  table.add(kernel_op("cumulative_product", "cumulative_product"));
  table.add(kernel_op("cumulative_max", "cumulative_max"));
  table.add(kernel_op("cumulative_min", "cumulative_min"));
  table.add(kernel_op("sort", "sort", &of_sort));
  table.add(without_gradient("argsort"));
  table.add(kernel_op("top_k", "top_k", &of_top_k));
}

}  // namespace stoker::expr::ops::ordering
