#include "stoker/api/tensor/math/products.hpp"

#include <algorithm>
#include <numeric>

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker {
namespace {

Error mismatch(const char* op, const Tensor& a, const Tensor& b) {
  return Error{op,
               ErrorCode::shape_mismatch,
               "shape mismatch: lhs " + a.shape().to_string() + ", rhs " + b.shape().to_string(),
               {{"lhs", a.spec().to_string()}, {"rhs", b.spec().to_string()}}};
}

/// An operand of dot: its axes in the order batch, free, contract (or batch, contract, free).
struct Arranged {
  Tensor matrices;  ///< [batch, rows, columns]
  Axes batch_axes;
  Axes free_axes;
  std::vector<std::int64_t> batch;
  std::vector<std::int64_t> free;
  std::int64_t contracted = 1;
};

Arranged arranged(const Tensor& x, const DotAxes& axes, bool contract_last) {
  const Axes batch = detail::checked_axes("dot", axes.batch, x.rank());
  static_cast<void>(detail::checked_axes("dot", axes.contract, x.rank()));
  // In the given order, which pairs them with the other operand's.
  Axes contract;
  for (const std::int64_t axis : axes.contract)
    contract.push_back(static_cast<std::int64_t>(detail::checked_axis("dot", axis, x.rank())));
  const auto extent = [&](std::int64_t axis) { return x.shape()[static_cast<std::size_t>(axis)]; };
  Arranged made;
  Axes order = batch;
  Axes free;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(x.rank()); ++axis)
    if (std::ranges::find(batch, axis) == batch.end() &&
        std::ranges::find(contract, axis) == contract.end())
      free.push_back(axis);
  const Axes& first = contract_last ? free : contract;
  const Axes& second = contract_last ? contract : free;
  order.insert(order.end(), first.begin(), first.end());
  order.insert(order.end(), second.begin(), second.end());
  if (order.size() != x.rank())
    throw Error{"dot", ErrorCode::invalid_parameter,
                "an axis is both summed over and a batch axis: " + x.spec().to_string()};
  std::int64_t batches = 1;
  std::int64_t frees = 1;
  for (const std::int64_t axis : batch) {
    made.batch.push_back(extent(axis));
    batches *= extent(axis);
  }
  for (const std::int64_t axis : free) {
    made.free.push_back(extent(axis));
    frees *= extent(axis);
  }
  for (const std::int64_t axis : contract) made.contracted *= extent(axis);
  made.batch_axes = batch;
  made.free_axes = free;
  made.matrices =
      reshape(transpose(x, order), contract_last ? Shape{batches, frees, made.contracted}
                                                 : Shape{batches, made.contracted, frees});
  return made;
}

/// Of the batch axes, the left operand's free ones and the right one's.
AxisNames dot_names(const Tensor& a, const Arranged& left, const Tensor& b, const Arranged& right) {
  if (a.names().none() && b.names().none()) return {};
  const auto padded = [&](const Axes& batch, const Axes& free, std::size_t before,
                          std::size_t after) {
    Axes axes = batch;
    axes.insert(axes.end(), before, -1);
    axes.insert(axes.end(), free.begin(), free.end());
    axes.insert(axes.end(), after, -1);
    return axes;
  };
  const Axes of_a = padded(left.batch_axes, left.free_axes, 0, right.free_axes.size());
  const Axes of_b = padded(right.batch_axes, right.free_axes, left.free_axes.size(), 0);
  return AxisNames::merged("dot", a.names().chosen(of_a), of_a.size(), b.names().chosen(of_b),
                           of_b.size());
}

DType product_dtype(const Tensor& a, const Tensor& b) {
  const DType dtype = expr::merged(a.dtype(), b.dtype());
  return dtype == DType::boolean ? DType::u8 : dtype;
}

/// A dtype that has a kernel and whose low bits are those of the result: products and sums wrap alike.
DType computed_in(DType dtype) {
  if (is_inexact(dtype) || dtype == DType::u32) return dtype;
  return size_of(dtype) == 8 ? DType::s64 : DType::s32;
}

/// [..., i, t] with [..., t, j], whatever the dtype.
Tensor matrices(const Tensor& a, const Tensor& b) {
  const DType dtype = product_dtype(a, b);
  const DType within = computed_in(dtype);
  const expr::Value product =
      expr::matmul(expr::cast(a.value(), within), expr::cast(b.value(), within));
  return Tensor{expr::cast(product, dtype)};
}

/// [..., i, t] with [..., t, j]: of i the left one's, of j the right one's.
AxisNames product_names(const Tensor& a, const Tensor& b) {
  if (a.names().none() && b.names().none()) return {};
  Axes left(a.rank());
  std::iota(left.begin(), left.end(), 0);
  Axes right(b.rank());
  std::iota(right.begin(), right.end(), 0);
  left.back() = -1;
  *(right.end() - 2) = -1;
  return AxisNames::merged("matmul", a.names().chosen(left), a.rank(), b.names().chosen(right),
                           b.rank());
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  if (a.rank() == 0 || b.rank() == 0) throw mismatch("matmul", a, b);
  const Tensor left = a.rank() == 1 ? new_axis(a, 0) : a;
  const Tensor right = b.rank() == 1 ? new_axis(b, -1) : b;
  const Shape& l = left.shape();
  const Shape& r = right.shape();
  bool fits = l[l.rank() - 1] == r[r.rank() - 2];
  for (std::size_t i = 3; fits && i <= std::min(l.rank(), r.rank()); ++i) {
    const std::int64_t x = l[l.rank() - i];
    const std::int64_t y = r[r.rank() - i];
    fits = x == y || x == 1 || y == 1;
  }
  if (!fits) throw mismatch("matmul", a, b);
  Tensor product{matrices(left, right).value(), product_names(left, right)};
  if (b.rank() == 1) product = squeeze(product, Axes{-1});
  if (a.rank() == 1) product = squeeze(product, Axes{b.rank() == 1 ? -1 : -2});
  return product;
}

Tensor dot(const Tensor& a, const Tensor& b) {
  if (a.rank() == 0 || b.rank() == 0) return a * b;
  const std::int64_t meets = b.rank() == 1 ? -1 : -2;
  return dot(a, {.contract = {-1}}, b, {.contract = {meets}});
}

Tensor dot(const Tensor& a, const DotAxes& a_axes, const Tensor& b, const DotAxes& b_axes) {
  const Arranged left = arranged(a, a_axes, true);
  const Arranged right = arranged(b, b_axes, false);
  if (left.batch != right.batch || left.contracted != right.contracted ||
      a_axes.contract.size() != b_axes.contract.size())
    throw mismatch("dot", a, b);
  for (std::size_t i = 0; i < a_axes.contract.size(); ++i)
    if (a.shape()[detail::checked_axis("dot", a_axes.contract[i], a.rank())] !=
        b.shape()[detail::checked_axis("dot", b_axes.contract[i], b.rank())])
      throw mismatch("dot", a, b);
  std::vector<std::int64_t> extents = left.batch;
  extents.insert(extents.end(), left.free.begin(), left.free.end());
  extents.insert(extents.end(), right.free.begin(), right.free.end());
  const Tensor product =
      reshape(matrices(left.matrices, right.matrices), Shape::make(extents, "dot"));
  return Tensor{product.value(), dot_names(a, left, b, right)};
}

Tensor outer(const Tensor& a, const Tensor& b) {
  return reshape(flatten(a), {-1, 1}) * reshape(flatten(b), {1, -1});
}

}  // namespace stoker
