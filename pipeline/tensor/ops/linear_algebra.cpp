// Factorizations and solutions of matrices. Gradients after Giles, "An extended collection of matrix
// derivative results for forward and reverse mode algorithmic differentiation", 2008.
#include "stoker/pipeline/tensor/kernel_op.hpp"
#include "stoker/pipeline/tensor/primitives.hpp"

namespace stoker::expr::ops::linear_algebra {
namespace {

Value triangular(const Value& a, const Value& b, bool lower, bool left, bool transposed) {
  static const Op& op = find_op("triangular_solve");
  return apply_one(op, {a, b}, {{"lower", lower}, {"left_side", left}, {"transpose", transposed}});
}

Value solved(const Value& a, const Value& b) {
  static const Op& op = find_op("solve");
  return apply_one(op, {a, b});
}

/// 1 on and below the diagonal (or above), times a number on it.
Value triangle_mask(const Value& like, bool lower, double on_diagonal) {
  const TensorSpec positions{DType::s32, like.shape()};
  const std::size_t rank = like.shape().rank();
  const Value row = iota(positions, rank - 2);
  const Value column = iota(positions, rank - 1);
  const DType dtype = like.dtype();
  const Value inside = cast(scalar(lower ? "greater" : "less", {row, column}), dtype);
  return inside + cast(scalar("equal", {row, column}), dtype) * on_diagonal;
}

/// A = L·Lᵀ: with P = Lᵀ·g's lower half, its diagonal halved, dA is the symmetric part of
/// L⁻ᵀ·P·L⁻¹.
Values of_cholesky(const Backward& b) {
  const Value& l = b.y();
  const Value product = matmul(l, b.g(), true, false);
  const Value half = product * triangle_mask(product, true, 0.5);
  const Value left = triangular(l, half, true, true, true);
  const Value both = triangular(l, left, true, false, false);
  return {(both + matrix_transpose(both)) * 0.5};
}

/// a·x = b (or x·a = b, or with aᵀ).
Values of_triangular_solve(const Backward& b) {
  const bool lower = b.attributes.flag("lower");
  const bool left = b.attributes.flag("left_side");
  const bool transposed = b.attributes.flag("transpose");
  const Value gb = triangular(b.x(0), b.g(), lower, left, !transposed);
  const bool turned = transposed == left;
  const Value outer =
      left ? (turned ? matmul(b.y(), gb, false, true) : matmul(gb, b.y(), false, true))
           : (turned ? matmul(b.y(), gb, true, false) : matmul(gb, b.y(), true, false));
  return {-(outer * triangle_mask(outer, lower, 1)), gb};
}

Values of_solve(const Backward& b) {
  const Value gb = solved(matrix_transpose(b.x(0)), b.g());
  return {-matmul(gb, b.y(), false, true), gb};
}

/// det(A)·A⁻ᵀ.
Values of_determinant(const Backward& b) {
  const Value& a = b.x();
  const std::size_t rank = a.shape().rank();
  const TensorSpec positions{DType::s32, a.shape()};
  const Value unit =
      cast(scalar("equal", {iota(positions, rank - 2), iota(positions, rank - 1)}), a.dtype());
  const Value inverse = solved(matrix_transpose(a), unit);
  const Shape scaled = b.y().shape().appended(1).appended(1);
  return {reshape(b.g() * b.y(), scaled) * inverse};
}

/// A = V·diag(w)·Vᵀ: dA = V·(diag(gw) + F ∘ (Vᵀ·gV))·Vᵀ with F[i,j] = 1 / (w[j] - w[i]).
Values of_eigh(const Backward& b) {
  const Value& w = b.y(0);
  const Value& v = b.y(1);
  const DType dtype = v.dtype();
  const TensorSpec positions{DType::s32, v.shape()};
  const std::size_t rank = v.shape().rank();
  const Value diagonal = scalar("equal", {iota(positions, rank - 2), iota(positions, rank - 1)});
  const Shape as_row = w.shape().without(rank - 2).appended(1).appended(w.shape()[rank - 2]);
  const Shape as_column = w.shape().appended(1);
  Value inner = constant(0, dtype, v.shape());
  if (b.g(0)) inner = select(diagonal, broadcast_to(reshape(b.g(0), as_row), v.shape()), inner);
  if (b.g(1)) {
    const Value gaps = reshape(w, as_row) - reshape(w, as_column);
    const Value factors =
        select(diagonal, constant(0, dtype), 1.0 / select(diagonal, constant(1, dtype), gaps));
    inner = inner + factors * matmul(v, b.g(1), true, false);
  }
  const Value full = matmul(matmul(v, inner), v, false, true);
  return {(full + matrix_transpose(full)) * 0.5};
}

}  // namespace

void define(OpTable& table) {
  table.add(kernel_op("cholesky", "cholesky", &of_cholesky));
  table.add(kernel_op("triangular_solve", "triangular_solve", &of_triangular_solve));
  table.add(kernel_op("solve", "solve", &of_solve));
  table.add(kernel_op("determinant", "determinant", &of_determinant));
  table.add(kernel_op("eigh", "eigh", &of_eigh));
  table.add(kernel_op("lu", "lu"));
  table.add(kernel_op("qr", "qr"));
  table.add(kernel_op("svd", "svd"));
}

}  // namespace stoker::expr::ops::linear_algebra
