// Scans and sorts along an axis.
#include <array>

#include "stoker/pipeline/tensor/graph/batching.hpp"
#include "stoker/pipeline/tensor/graph/kernel_op.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::expr::ops::ordering {
namespace {

Values of_cumulative_sum(const Backward& b) {
  static constinit NamedOp op{"cumulative_sum"};
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

/// h[i] = g[i] + x[i + 1] · h[i + 1] along the axis, in rounds that double what each place has seen (W. D.
/// Hillis, G. L. Steele, "Data parallel algorithms", 1986).
Value recurrence(const Value& g, const Value& x, std::int64_t axis) {
  const std::int64_t n = x.shape()[static_cast<std::size_t>(axis)];
  Value h = g;
  if (n < 2) return h;
  Value factors = part(x, axis, 1, n - 1);  // of h[i + reach] in h[i]
  for (std::int64_t reach = 1; reach < n; reach *= 2) {
    const Value changed = part(h, axis, 0, n - reach) + factors * part(h, axis, reach, n - reach);
    h = concatenate(std::array{changed, part(h, axis, n - reach, reach)}, axis);
    const std::int64_t left = n - 2 * reach;
    if (left > 0) factors = part(factors, axis, 0, left) * part(factors, axis, reach, left);
  }
  return h;
}

/// y[i] = Π x[k], k up to i. By x[k]: the product before it, times the sum over all i from k on of g[i] and
/// the product from k + 1 to i. Nothing is divided and nothing asks where zeros are, so it holds for any
/// of them, and so do its own gradients.
///
/// The limit: products of any stretch of x must be numbers, not only those from the front. With x =
/// {1e-36, 1000, 1000, …} of f32 every y is finite, but thirteen thousands are not: the gradients of the
/// elements before them are then infinite, or NaN where nothing of g lies behind. Sums of g · y divided by
/// x know no such stretch, but fail at a zero, and so would their gradients; those of the logarithms
/// fail at signs. Scale x, or compute in f64.
Values of_cumulative_product(const Backward& b) {
  const std::int64_t axis = axis_of(b);
  const DType dtype = b.x().dtype();
  const DType wide = size_of(dtype) == 2 ? DType::f32 : dtype;
  const std::array along{axis};
  const auto turned = [&](const Value& value) {
    return b.attributes.flag("reverse") ? reverse(value, along) : value;
  };
  const Value x = turned(cast(b.x(), wide));
  std::vector<std::int64_t> low(x.shape().rank(), 0), high(low), none(low);
  low[static_cast<std::size_t>(axis)] = 1;
  high[static_cast<std::size_t>(axis)] = -1;
  if (x.shape().elements() == 0) return {b.g()};
  const Value shifted = pad(x, constant(1, wide), low, high, none);
  const Value before = scanned("cumulative_product", shifted, axis, false);
  return {cast(turned(before * recurrence(turned(cast(b.g(), wide)), x, axis)), dtype)};
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
  static constinit NamedOp along{"take_along_axis"};
  const Values inputs{b.x(), origin};
  return {along.get().gradient({inputs, b.outputs, b.gradients, Attributes{{"axis", axis}}})[0]};
}

/// Sorted by a permutation; its inverse brings the gradient back.
Values of_sort(const Backward& b) {
  static constinit NamedOp argsort{"argsort"};
  const Value order = apply_one(argsort, {b.x()}, Attributes{b.attributes.params()});
  const Value inverse =
      apply_one(argsort, {order}, {{"axis", axis_of(b)}, {"direction", std::string{"asc"}}});
  return {take_along_axis(b.g(), inverse, axis_of(b))};
}

/// The k largest go back to where they were.
Values of_top_k(const Backward& b) {
  if (!b.g(0)) return {Value{}};
  static constinit NamedOp along{"take_along_axis"};
  const auto axis = static_cast<std::int64_t>(b.x().shape().rank()) - 1;
  const Values inputs{b.x(), b.y(1)};
  const Values outputs{b.y(0)};
  const Values gradients{b.g(0)};
  return {along.get().gradient({inputs, outputs, gradients, Attributes{{"axis", axis}}})[0]};
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
