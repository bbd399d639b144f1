#include "stoker/api/tensor/views/indexing.hpp"

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker {
namespace {

Axes coordinates_of(const char* op, const Tensor& x, const Tensor& indices,
                    const std::optional<Axes>& axes) {
  if (axes) return detail::checked_axes(op, axes, x.rank());
  if (indices.rank() == 0)
    throw Error{op, ErrorCode::shape_mismatch,
                "the last axis of the indices holds coordinates, but they have none"};
  return expr::all_axes(static_cast<std::size_t>(indices.shape()[indices.rank() - 1]));
}

/// A call of indexed_add or one of its siblings, of the dtype that both become.
Tensor updated(const char* op, const Tensor& target, const Tensor& indices, const Tensor& updates,
               const std::optional<Axes>& axes) {
  const DType dtype = expr::merged(target.dtype(), updates.dtype());
  return Tensor{expr::apply_one(
      expr::find_op(op),
      {expr::cast(target.value(), dtype), indices.value(), expr::cast(updates.value(), dtype)},
      {{"axes", coordinates_of(op, target, indices, axes)}})};
}

}  // namespace

Tensor take(const Tensor& x, const Tensor& indices, std::int64_t axis) {
  const auto which = static_cast<std::int64_t>(detail::checked_axis("take", axis, x.rank()));
  return Tensor{
      expr::apply_one(expr::find_op("take"), {x.value(), indices.value()}, {{"axis", which}})};
}

Tensor take_along_axis(const Tensor& x, const Tensor& indices, std::int64_t axis) {
  const std::size_t which = detail::checked_axis("take_along_axis", axis, x.rank());
  return Tensor{
      expr::take_along_axis(x.value(), indices.value(), static_cast<std::int64_t>(which))};
}

Tensor gather(const Tensor& x, const Tensor& indices, const std::optional<Axes>& axes) {
  return Tensor{
      expr::gather(x.value(), indices.value(), coordinates_of("gather", x, indices, axes))};
}

Tensor indexed_add(const Tensor& target, const Tensor& indices, const Tensor& updates,
                   const std::optional<Axes>& axes) {
  return updated("indexed_add", target, indices, updates, axes);
}

Tensor indexed_multiply(const Tensor& target, const Tensor& indices, const Tensor& updates,
                        const std::optional<Axes>& axes) {
  return updated("indexed_multiply", target, indices, updates, axes);
}

Tensor indexed_max(const Tensor& target, const Tensor& indices, const Tensor& updates,
                   const std::optional<Axes>& axes) {
  return updated("indexed_max", target, indices, updates, axes);
}

Tensor indexed_min(const Tensor& target, const Tensor& indices, const Tensor& updates,
                   const std::optional<Axes>& axes) {
  return updated("indexed_min", target, indices, updates, axes);
}

Tensor indexed_put(const Tensor& target, const Tensor& indices, const Tensor& updates,
                   const std::optional<Axes>& axes) {
  return updated("indexed_put", target, indices, updates, axes);
}

Tensor dynamic_slice(const Tensor& x, const Tensor& starts, const Axes& lengths) {
  return Tensor{expr::apply_one(expr::find_op("dynamic_slice"), {x.value(), starts.value()},
                                {{"lengths", lengths}, {"strides", Axes(lengths.size(), 1)}})};
}

Tensor put_slice(const Tensor& x, const Tensor& starts, const Tensor& piece) {
  const DType dtype = expr::merged(x.dtype(), piece.dtype());
  return Tensor{expr::apply_one(
      expr::find_op("put_slice"),
      {expr::cast(x.value(), dtype), expr::cast(piece.value(), dtype), starts.value()})};
}

}  // namespace stoker
