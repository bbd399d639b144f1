#include "stoker/api/tensor/math/statistics.hpp"

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/complex.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/ordering.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/transforms/grad.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker {
namespace {

Error unfitting(const char* op, const char* what, const Tensor& x, const Tensor& other) {
  return Error{
      op,
      ErrorCode::shape_mismatch,
      std::string{what} + " " + other.spec().to_string() + " do not fit " + x.spec().to_string(),
      {{"input", x.spec().to_string()}, {"got", other.spec().to_string()}}};
}

/// Repeated to x's shape.
Tensor fitted(const char* op, const char* what, const Tensor& other, const Tensor& x) {
  const auto shape = broadcast(other.shape(), x.shape());
  if (!shape || *shape != x.shape()) throw unfitting(op, what, x, other);
  return broadcast(other, x.shape());
}

Tensor as_float(const Tensor& x) { return as_type(x, expr::floating(x.dtype())); }

/// Where sums are formed whose quotients are of `dtype`: those of f16 soon leave its range.
DType summed(DType dtype) { return size_of(dtype) == 2 ? DType::f32 : dtype; }

}  // namespace

Tensor weighted_mean(const Tensor& x, const Tensor& weights, const Reduce& over) {
  const Axes axes = detail::checked_axes("weighted_mean", over.axes, x.rank());
  Tensor weight = weights;
  if (weights.rank() == 1 && axes.size() == 1) {
    const auto axis = static_cast<std::size_t>(axes[0]);
    if (weights.shape()[0] != x.shape()[axis])
      throw unfitting("weighted_mean", "weights", x, weights);
    std::vector<std::int64_t> extents(x.rank(), 1);
    extents[axis] = weights.shape()[0];
    weight = reshape(weights, extents);
  }
  const Tensor all = fitted("weighted_mean", "weights", weight, x);
  const DType dtype = expr::floating(expr::merged(x.dtype(), weights.dtype()));
  const Tensor w = as_type(all, summed(dtype));
  return as_type(sum(as_type(x, summed(dtype)) * w, over) / sum(w, over), dtype);
}

Tensor mode(const Tensor& x, std::optional<std::int64_t> axis, bool keepdims) {
  const Tensor from = axis ? x : flatten(x);
  const auto along =
      static_cast<std::int64_t>(detail::checked_axis("mode", axis.value_or(0), from.rank()));
  const std::int64_t n = from.shape()[static_cast<std::size_t>(along)];
  if (n == 0) throw Error{"mode", ErrorCode::shape_mismatch, "there are no elements"};
  // In order equals stand together: how far each is from the first of its run, and the first of the
  // longest run.
  const Tensor sorted = sort(from, along);
  const Tensor place = iota_along(sorted.shape(), along);
  std::vector<Padding> back(sorted.rank());
  back[static_cast<std::size_t>(along)] = {1, -1, 0};
  const Tensor starts = logical_or(sorted != pad(sorted, 0, back), place == 0);
  const Tensor run = place - cumulative_max(select(starts, place, 0), along);
  const Tensor most =
      take_along_axis(sorted, argmax(run, {.axis = along, .keepdims = true}), along);
  if (axis) return keepdims ? most : squeeze(most, Axes{along});
  return reshape(most,
                 keepdims ? std::vector<std::int64_t>(x.rank(), 1) : std::vector<std::int64_t>{});
}

Tensor covariance(const Tensor& x, std::int64_t ddof) {
  if (x.rank() < 2)
    throw Error{"covariance",
                ErrorCode::shape_mismatch,
                "expected samples in rows, got " + x.spec().to_string(),
                {{"got", x.spec().to_string()}}};
  return covariance(x, mean(as_float(x), {Axes{-2}}), ddof);
}

Tensor covariance(const Tensor& x, const Tensor& mean, std::int64_t ddof) {
  if (x.rank() < 2)
    throw Error{"covariance",
                ErrorCode::shape_mismatch,
                "expected samples in rows, got " + x.spec().to_string(),
                {{"got", x.spec().to_string()}}};
  if (mean.rank() == 0) throw unfitting("covariance", "means", x, mean);
  const std::int64_t samples = x.shape()[x.rank() - 2];
  if (ddof < 0 || ddof > samples)
    throw Error{"covariance",
                ErrorCode::invalid_parameter,
                "ddof " + std::to_string(ddof) + " of " + std::to_string(samples) + " samples",
                {{"ddof", std::to_string(ddof)}, {"samples", std::to_string(samples)}}};
  const DType dtype = expr::floating(expr::merged(x.dtype(), mean.dtype()));
  const Tensor value = as_type(x, summed(dtype));
  const Tensor centred =
      value - fitted("covariance", "means", new_axis(as_type(mean, summed(dtype)), -2), x);
  Axes order = expr::all_axes(x.rank());
  std::swap(order[x.rank() - 1], order[x.rank() - 2]);
  const Tensor other = is_complex(dtype) ? conjugate(centred) : centred;
  return as_type(matmul(transpose(centred, order), other) / static_cast<double>(samples - ddof),
                 dtype);
}

Tensor logsumexp(const Tensor& x, const Tensor& scale, const Reduce& over) {
  const DType dtype = expr::floating(expr::merged(x.dtype(), scale.dtype()));
  if (size_of(dtype) == 2)
    return as_type(logsumexp(as_type(x, DType::f32), as_type(scale, DType::f32), over), dtype);
  const Tensor value = as_type(x, dtype);
  const Tensor scales = fitted("logsumexp", "scales", as_type(scale, dtype), x);
  if (x.size() == 0) return logsumexp(value, over);
  const Tensor largest = reduce_max(value, {over.axes, true});
  // An infinite one would make inf - inf; what it shifts by does not change the result.
  const Tensor shift = stop_gradient(select(is_infinity(largest), 0, largest));
  const Tensor whole = log(sum(scales * exp(value - shift), {over.axes, true})) + shift;
  if (over.keepdims) return whole;
  const Axes axes = detail::checked_axes("logsumexp", over.axes, x.rank());
  return axes.empty() ? whole : squeeze(whole, axes);
}

}  // namespace stoker
