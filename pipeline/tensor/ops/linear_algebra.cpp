// Factorizations and solutions of matrices. Gradients after Giles, "An extended collection of matrix
// derivative results for forward and reverse mode algorithmic differentiation", 2008; of QR after Walter,
// Lehmann, Lamour, "On evaluating higher-order derivatives of the QR decomposition of tall matrices",
// arXiv:1009.6112; of the SVD after Townsend, "Differentiating the singular value decomposition", 2016,
// and Wan, Zhang, arXiv:1909.02659.
//
// Where eigenvalues or singular values are equal their vectors are not functions of the matrix. The part
// of a gradient that would be divided by the difference of equal values counts as 0: what is computed of
// the values alone (their sum, a norm) has its gradient, what is computed of the vectors has a finite
// number that is not one.
#include <algorithm>
#include <optional>

#include "stoker/pipeline/tensor/graph/batching.hpp"
#include "stoker/pipeline/tensor/graph/kernel_op.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::expr::ops::linear_algebra {
namespace {

Value triangular(const Value& a, const Value& b, bool lower, bool left, bool transposed) {
  static constinit NamedOp op{"triangular_solve"};
  return apply_one(op, {a, b}, {{"lower", lower}, {"left_side", left}, {"transpose", transposed}});
}

Value solved(const Value& a, const Value& b) {
  static constinit NamedOp op{"solve"};
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

/// 1 / x, and 0 where x is 0; its own gradient is no NaN there either.
Value inverse_or_zero(const Value& x) {
  const Value zero = constant(0, x.dtype());
  const Value is_zero = scalar("equal", {x, zero});
  return select(is_zero, zero, 1.0 / select(is_zero, constant(1, x.dtype()), x));
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
    const Value factors = inverse_or_zero(gaps);
    inner = inner + factors * matmul(v, b.g(1), true, false);
  }
  const Value full = matmul(matmul(v, inner), v, false, true);
  return {(full + matrix_transpose(full)) * 0.5};
}

/// `count` rows from `row` on and columns from `column` on, of the last two axes.
Value block(const Value& x, std::int64_t row, std::int64_t rows, std::int64_t column,
            std::int64_t columns) {
  const std::size_t rank = x.shape().rank();
  std::vector<std::int64_t> starts(rank, 0);
  std::vector<std::int64_t> lengths(x.shape().begin(), x.shape().end());
  starts[rank - 2] = row;
  lengths[rank - 2] = rows;
  starts[rank - 1] = column;
  lengths[rank - 1] = columns;
  return slice(x, starts, lengths, std::vector<std::int64_t>(rank, 1));
}

std::int64_t rows_of(const Value& x) { return x.shape()[x.shape().rank() - 2]; }
std::int64_t columns_of(const Value& x) { return x.shape()[x.shape().rank() - 1]; }

Value joined(const Value& a, const Value& b, std::size_t from_end) {
  const std::array both{a, b};
  return concatenate(both, static_cast<std::int64_t>(a.shape().rank() - from_end));
}

/// Output `i`'s gradient, zeros if the result does not depend on it.
Value gradient_or_zeros(const Backward& b, std::size_t i) {
  return b.g(i) ? b.g(i) : zeros_like(b.y(i));
}

Value lower_half(const Value& x, double on_diagonal) {
  return x * triangle_mask(x, true, on_diagonal);
}

/// A = P·L·U of a square part: P·L⁻ᵀ·(strictly lower half of Lᵀ·gL + upper half of gU·Uᵀ)·U⁻ᵀ. What is
/// left of a tall or wide A is a product with the inverse of U or L.
Values of_lu(const Backward& b) {
  const Value& p = b.y(0);
  const Value& l = b.y(1);
  const Value& u = b.y(2);
  const std::int64_t m = rows_of(l);
  const std::int64_t n = columns_of(u);
  const std::int64_t k = std::min(m, n);
  const Value gl = gradient_or_zeros(b, 1);
  const Value gu = gradient_or_zeros(b, 2);
  const Value l1 = block(l, 0, k, 0, k);
  const Value u1 = block(u, 0, k, 0, k);
  Value gl1 = block(gl, 0, k, 0, k);
  Value gu1 = block(gu, 0, k, 0, k);
  std::optional<Value> rest;
  if (m > k) {
    rest = triangular(u1, block(gl, k, m - k, 0, k), false, false, true);
    gu1 = gu1 - matmul(block(l, k, m - k, 0, k), *rest, true, false);
  } else if (n > k) {
    rest = triangular(l1, block(gu, 0, k, k, n - k), true, true, true);
    gl1 = gl1 - matmul(*rest, block(u, 0, k, k, n - k), false, true);
  }
  const Value from_u = matmul(gu1, u1, false, true);
  const Value inner =
      lower_half(matmul(l1, gl1, true, false), 0) + from_u * triangle_mask(from_u, false, 1);
  const Value square = triangular(u1, triangular(l1, inner, true, true, true), false, false, true);
  const Value whole = rest ? joined(square, *rest, m > k ? 2 : 1) : square;
  return {matmul(p, whole)};
}

/// A = Q·R with R square: (gQ + Q·C)·R⁻ᵀ, where C is M = R·gRᵀ - gQᵀ·Q with its lower half mirrored.
Value qr_back(const Value& q, const Value& r, const Value& gq, const Value& gr) {
  const Value m = matmul(r, gr, false, true) - matmul(gq, q, true, false);
  const Value mirrored = lower_half(m, 1) + matrix_transpose(lower_half(m, 0));
  return triangular(r, gq + matmul(q, mirrored), false, false, true);
}

/// A wide A = [X | Y] has X = Q·U and R = [U | Qᵀ·Y].
Values of_qr(const Backward& b) {
  const Value& q = b.y(0);
  const Value& r = b.y(1);
  const std::int64_t m = rows_of(q);
  const std::int64_t n = columns_of(r);
  if (columns_of(q) > n)
    throw Error{
        "qr", ErrorCode::unsupported,
        "there is no gradient of a complete Q of more rows than columns: those of its columns "
        "that are not in the span of the matrix may be any"};
  const Value gq = gradient_or_zeros(b, 0);
  const Value gr = gradient_or_zeros(b, 1);
  if (m >= n) return {qr_back(q, r, gq, gr)};
  const Value y = block(b.x(), 0, m, m, n - m);
  const Value gv = block(gr, 0, m, m, n - m);
  const Value gx =
      qr_back(q, block(r, 0, m, 0, m), gq + matmul(y, gv, false, true), block(gr, 0, m, 0, m));
  return {joined(gx, matmul(q, gv), 1)};
}

/// A = U·diag(s)·Vᵀ with F[i,j] = 1 / (s[j]² - s[i]²):
/// gA = U·(F ∘ (Uᵀ·gU - gUᵀ·U)·S + S·(F ∘ (Vᵀ·gV - gVᵀ·V)) + diag(gs))·Vᵀ
///    + (I - U·Uᵀ)·gU·S⁻¹·Vᵀ + U·S⁻¹·gVᵀ·(I - V·Vᵀ).
Values of_svd(const Backward& b) {
  const std::int64_t m = rows_of(b.x());
  const std::int64_t n = columns_of(b.x());
  const std::int64_t k = std::min(m, n);
  if ((b.g(0) && columns_of(b.y(0)) > k) || (b.g(2) && rows_of(b.y(2)) > k))
    throw Error{
        "svd", ErrorCode::unsupported,
        "there is no gradient of all left and right vectors of a matrix that is not square: "
        "those without a singular value may be any; ask for full_matrices = false"};
  const Value u = block(b.y(0), 0, m, 0, k);
  const Value vt = block(b.y(2), 0, k, 0, n);
  const Value& s = b.y(1);
  const std::size_t rank = b.x().shape().rank();
  const Value row = reshape(s, s.shape().without(rank - 2).appended(1).appended(k));
  const Value column = reshape(s, s.shape().appended(1));
  const Value factors = inverse_or_zero(row * row - column * column);
  Value inner = constant(0, s.dtype(), u.shape().with(rank - 2, k));
  Value outer = zeros_like(b.x());
  const auto skew = [](const Value& product) { return product - matrix_transpose(product); };
  if (b.g(1)) {
    const TensorSpec positions{DType::s32, inner.shape()};
    const Value diagonal = scalar("equal", {iota(positions, rank - 2), iota(positions, rank - 1)});
    inner = select(diagonal, broadcast_to(reshape(b.g(1), row.shape()), inner.shape()), inner);
  }
  if (b.g(0)) {
    const Value inside = matmul(u, b.g(0), true, false);
    inner = inner + factors * skew(inside) * row;
    const Value beside = b.g(0) - matmul(u, inside);
    outer = outer + matmul(beside * inverse_or_zero(row), vt);
  }
  if (b.g(2)) {
    const Value inside = matmul(vt, b.g(2), false, true);
    inner = inner + column * (factors * skew(inside));
    const Value beside = b.g(2) - matmul(inside, vt, true, false);
    outer = outer + matmul(u, inverse_or_zero(column) * beside);
  }
  return {matmul(matmul(u, inner), vt) + outer};
}

}  // namespace

void define(OpTable& table) {
  const auto add = [&](const char* name, Values (*gradient)(const Backward&)) {
    Op op = kernel_op(name, name, gradient);
    op.batch = &batch_leading;
    table.add(std::move(op));
  };
  add("cholesky", &of_cholesky);
  add("triangular_solve", &of_triangular_solve);
  add("solve", &of_solve);
  add("determinant", &of_determinant);
  add("eigh", &of_eigh);
  add("lu", &of_lu);
  add("qr", &of_qr);
  add("svd", &of_svd);
}

}  // namespace stoker::expr::ops::linear_algebra
