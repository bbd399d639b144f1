#include "stoker/api/tensor/math/reductions.hpp"

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker {
namespace {

/// A reduction over no axes leaves the elements as they are: to the kernels an empty list means all.
Tensor reduced(std::string_view op, const Tensor& x, const Reduce& over, DType result) {
  const Axes axes = detail::checked_axes(op, over.axes, x.rank());
  if (axes.empty() && x.rank() > 0) return as_type(x, result);
  return Tensor{expr::apply_one(expr::find_op(op), {x.value()},
                                {{"axes", axes}, {"keepdims", over.keepdims}}),
                over.keepdims ? x.names() : x.names().without(axes, x.rank())};
}

Tensor number(const Tensor& x) { return x.dtype() == DType::boolean ? as_type(x, DType::u8) : x; }

std::int64_t count(const Tensor& x, const Reduce& over, const char* op) {
  std::int64_t elements = 1;
  for (const std::int64_t axis : detail::checked_axes(op, over.axes, x.rank()))
    elements *= x.shape()[static_cast<std::size_t>(axis)];
  return elements;
}

Reduce kept(const Reduce& over) { return {over.axes, true}; }

/// Without the axes of `over`, which have extent 1.
Tensor dropped(const Tensor& x, const Reduce& over, const char* op) {
  if (over.keepdims) return x;
  const Axes axes = detail::checked_axes(op, over.axes, x.rank());
  return axes.empty() ? x : squeeze(x, axes);
}

Tensor arg(std::string_view op, const Tensor& given, const Arg& over) {
  if (!over.axis && given.size() == 0)
    throw Error{std::string{op},
                ErrorCode::shape_mismatch,
                "there are no elements to choose from: input " + given.spec().to_string(),
                {{"input", given.spec().to_string()}}};
  const Tensor x = over.axis ? given : flatten(given);
  const std::size_t axis = detail::checked_axis(op, over.axis.value_or(0), x.rank());
  const Tensor found{
      expr::apply_one(expr::find_op(op), {x.value()},
                      {{"axis", static_cast<std::int64_t>(axis)},
                       {"keepdims", over.axis && over.keepdims},
                       {"tie_break", std::string{over.ties == TieBreak::low ? "low" : "high"}}}),
      over.axis && over.keepdims
          ? x.names()
          : x.names().without(Axes{static_cast<std::int64_t>(axis)}, x.rank())};
  if (!over.axis && over.keepdims)
    return reshape(found, std::vector<std::int64_t>(given.rank(), 1));
  return found;
}

DType real_floating(DType dtype) { return component_of(expr::floating(dtype)); }

/// Σ |x − mean|², of 16-bit floats as f32: squares soon leave their range.
Tensor squared_distances(const Tensor& x, const Reduce& over) {
  const DType dtype = expr::floating(x.dtype());
  const Tensor value = as_type(x, size_of(dtype) == 2 ? DType::f32 : dtype);
  const Tensor centred = value - mean(value, kept(over));
  const Tensor size = is_complex(dtype) ? abs(centred) : centred;
  return sum(size * size, over);
}

}  // namespace

Tensor sum(const Tensor& x, const Reduce& over) {
  const DType dtype = expr::aggregated(x.dtype());
  return reduced("sum", as_type(x, dtype), over, dtype);
}

Tensor product(const Tensor& x, const Reduce& over) {
  const DType dtype = expr::aggregated(x.dtype());
  return reduced("product", as_type(x, dtype), over, dtype);
}

Tensor mean(const Tensor& x, const Reduce& over) {
  const DType dtype = expr::floating(x.dtype());
  return reduced("mean", as_type(x, dtype), over, dtype);
}

Tensor variance(const Tensor& x, const Reduce& over, std::int64_t ddof) {
  const auto n = static_cast<double>(count(x, over, "variance") - ddof);
  return as_type(squared_distances(x, over) / n, real_floating(x.dtype()));
}

Tensor standard_deviation(const Tensor& x, const Reduce& over, std::int64_t ddof) {
  const auto n = static_cast<double>(count(x, over, "standard_deviation") - ddof);
  return as_type(sqrt(squared_distances(x, over) / n), real_floating(x.dtype()));
}

Tensor reduce_max(const Tensor& x, const Reduce& over) {
  return reduced("reduce_max", number(x), over, number(x).dtype());
}

Tensor reduce_min(const Tensor& x, const Reduce& over) {
  return reduced("reduce_min", number(x), over, number(x).dtype());
}

Tensor all(const Tensor& x, const Reduce& over) { return reduced("all", x, over, DType::u8); }
Tensor any(const Tensor& x, const Reduce& over) { return reduced("any", x, over, DType::u8); }

Tensor logsumexp(const Tensor& x, const Reduce& over) {
  const DType dtype = expr::floating(x.dtype());
  // The sum of many exponentials leaves the range of f16, and its logarithm does not.
  if (size_of(dtype) == 2) return as_type(logsumexp(as_type(x, DType::f32), over), dtype);
  const Tensor value = as_type(x, dtype);
  if (x.size() == 0) return log(sum(exp(value), over));  // nothing is largest
  const Tensor largest = reduce_max(value, kept(over));
  // An infinite one would make inf - inf; what it shifts by does not change the result.
  const Tensor shift{expr::apply_one(expr::find_op("stop_gradient"),
                                     {select(is_infinity(largest), 0, largest).value()}),
                     x.names()};
  const Tensor whole = log(sum(exp(value - shift), kept(over))) + shift;
  return dropped(whole, over, "logsumexp");
}

Tensor argmax(const Tensor& x, const Arg& over) { return arg("argmax", x, over); }
Tensor argmin(const Tensor& x, const Arg& over) { return arg("argmin", x, over); }

Tensor all_close(const TensorLike& a, const TensorLike& b, const Closeness& how) {
  const DType both = expr::merged(a.dtype(), b.dtype());
  const DType dtype = is_inexact(both) ? both : DType::f64;
  const Tensor left{a.as(dtype)};
  const Tensor right{b.as(dtype)};
  const Tensor finite =
      logical_and(logical_not(is_infinity(left)), logical_not(is_infinity(right)));
  Tensor close = logical_or(
      left == right, logical_and(finite, abs(left - right) <= abs(right) * how.rtol + how.atol));
  if (how.equal_nan) close = logical_or(close, logical_and(is_nan(left), is_nan(right)));
  return all(close);
}

Tensor softmax(const Tensor& x, std::int64_t axis) {
  const Tensor value = as_type(x, expr::floating(x.dtype()));
  const std::size_t which = detail::checked_axis("softmax", axis, x.rank());
  return Tensor{expr::apply_one(expr::find_op("softmax"), {value.value()},
                                {{"axis", static_cast<std::int64_t>(which)}}),
                x.names()};
}

Tensor log_softmax(const Tensor& x, std::int64_t axis) {
  const DType dtype = expr::floating(x.dtype());
  const Tensor value = as_type(x, size_of(dtype) == 2 ? DType::f32 : dtype);
  const auto which = static_cast<std::int64_t>(detail::checked_axis("log_softmax", axis, x.rank()));
  return as_type(value - logsumexp(value, {Axes{which}, true}), dtype);
}

Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, std::int64_t axis,
                  double epsilon) {
  const Tensor value = as_type(x, expr::floating(x.dtype()));
  const std::size_t which = detail::checked_axis("layer_norm", axis, x.rank());
  expr::Values inputs{value.value()};
  if (gamma.has_value() || beta.has_value()) {
    const std::vector<std::int64_t> extents(x.shape().begin() + which, x.shape().end());
    const Shape normalized = Shape::make(extents, "layer_norm");
    inputs.push_back(gamma.has_value() ? expr::cast(gamma.value(), value.dtype())
                                       : expr::constant(1, value.dtype(), normalized));
  }
  if (beta.has_value()) inputs.push_back(expr::cast(beta.value(), value.dtype()));
  return Tensor{expr::apply_one(expr::find_op("layer_norm"), std::move(inputs),
                                {{"axis", static_cast<std::int64_t>(which)}, {"epsilon", epsilon}}),
                x.names()};
}

}  // namespace stoker
