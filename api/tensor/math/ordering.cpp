#include "stoker/api/tensor/math/ordering.hpp"

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker {
namespace {

Tensor ordered(std::string_view op, const Tensor& x, std::int64_t axis, Direction direction) {
  const auto which = static_cast<std::int64_t>(detail::checked_axis(op, axis, x.rank()));
  return Tensor{
      expr::apply_one(
          expr::find_op(op), {x.value()},
          {{"axis", which},
           {"direction", std::string{direction == Direction::ascending ? "asc" : "desc"}}}),
      x.names()};
}

Tensor scan(std::string_view op, const Tensor& x, DType dtype, std::int64_t axis, bool reverse) {
  const auto which = static_cast<std::int64_t>(detail::checked_axis(op, axis, x.rank()));
  return Tensor{expr::apply_one(expr::find_op(op), {expr::cast(x.value(), dtype)},
                                {{"axis", which}, {"reverse", reverse}}),
                x.names()};
}

}  // namespace

Tensor sort(const Tensor& x, std::int64_t axis, Direction direction) {
  return ordered("sort", x, axis, direction);
}
Tensor argsort(const Tensor& x, std::int64_t axis, Direction direction) {
  return ordered("argsort", x, axis, direction);
}

TopK top_k(const Tensor& x, std::int64_t k) {
  const expr::Values both = expr::apply(expr::find_op("top_k"), {x.value()}, {{"k", k}});
  return {Tensor{both[0], x.names()}, Tensor{both[1], x.names()}};
}

Tensor cumulative_sum(const Tensor& x, std::int64_t axis, bool reverse) {
  return scan("cumulative_sum", x, expr::aggregated(x.dtype()), axis, reverse);
}
Tensor cumulative_product(const Tensor& x, std::int64_t axis, bool reverse) {
  return scan("cumulative_product", x, expr::aggregated(x.dtype()), axis, reverse);
}
Tensor cumulative_max(const Tensor& x, std::int64_t axis, bool reverse) {
  return scan("cumulative_max", x, x.dtype(), axis, reverse);
}
Tensor cumulative_min(const Tensor& x, std::int64_t axis, bool reverse) {
  return scan("cumulative_min", x, x.dtype(), axis, reverse);
}

Tensor diff(const Tensor& x, std::int64_t order, std::int64_t axis) {
  const std::size_t which = detail::checked_axis("diff", axis, x.rank());
  if (order < 0 || order > x.shape()[which])
    throw Error{"diff",
                ErrorCode::invalid_parameter,
                "order " + std::to_string(order) + " does not fit an axis of " +
                    std::to_string(x.shape()[which]),
                {{"order", std::to_string(order)}, {"input", x.spec().to_string()}}};
  Tensor result = x;
  for (std::int64_t i = 0; i < order; ++i) {
    const std::int64_t length = result.shape()[which] - 1;
    result = slice_along_axis(result, 1, length, axis) - slice_along_axis(result, 0, length, axis);
  }
  return result;
}

Tensor median(const Tensor& x, std::optional<std::int64_t> axis, bool keepdims) {
  const Tensor from = axis ? x : flatten(x);
  const std::size_t which = detail::checked_axis("median", axis.value_or(0), from.rank());
  const std::int64_t n = from.shape()[which];
  if (n == 0) throw Error{"median", ErrorCode::shape_mismatch, "there are no elements"};
  const auto along = static_cast<std::int64_t>(which);
  const Tensor sorted = sort(from, along);
  const Tensor middle =
      n % 2 == 1 ? slice_along_axis(sorted, n / 2, 1, along)
                 : mean(slice_along_axis(sorted, n / 2 - 1, 2, along), {Axes{along}, true});
  if (axis) return keepdims ? middle : squeeze(middle, Axes{along});
  return reshape(middle,
                 keepdims ? std::vector<std::int64_t>(x.rank(), 1) : std::vector<std::int64_t>{});
}

}  // namespace stoker
