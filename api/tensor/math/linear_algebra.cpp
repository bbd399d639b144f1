#include "stoker/api/tensor/math/linear_algebra.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/complex.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::linalg {
namespace {

DType wide(DType dtype) {
  if (is_complex(dtype))
    throw Error{
        "linalg",
        ErrorCode::unsupported,
        "there are no factorizations of complex matrices, got " + std::string{to_string(dtype)},
        {{"got", std::string{to_string(dtype)}}}};
  return dtype == DType::f64 ? DType::f64 : DType::f32;
}

/// What a factor of `a` is given as.
Tensor narrowed(const expr::Value& factor, const Tensor& a) {
  return Tensor{expr::cast(factor, expr::floating(a.dtype()))};
}

expr::Values factors(std::string_view op, const Tensor& a, expr::Attributes attributes = {}) {
  return expr::apply(expr::find_op(op), {expr::cast(a.value(), wide(a.dtype()))},
                     std::move(attributes));
}

void check_square(const char* op, const Tensor& a) {
  if (a.rank() < 2 || a.shape()[a.rank() - 1] != a.shape()[a.rank() - 2])
    throw Error{op,
                ErrorCode::shape_mismatch,
                "expected square matrices, got " + a.spec().to_string(),
                {{"got", a.spec().to_string()}}};
}

/// Solves with matrices of the same batch axes; a vector counts as a column.
template <class Solve>
Tensor solved(const char* op, const Tensor& a, const Tensor& b, bool left, Solve&& solve) {
  check_square(op, a);
  if (b.rank() == 0)
    throw Error{op, ErrorCode::shape_mismatch, "expected a vector or a matrix on the right side"};
  const DType dtype = wide(expr::merged(a.dtype(), b.dtype()));
  const bool vector = b.rank() == 1;
  const Tensor matrix = vector ? new_axis(b, left ? -1 : 0) : b;
  const auto batch_of = [](const Tensor& x) {
    return std::vector<std::int64_t>(x.shape().begin(), x.shape().end() - 2);
  };
  const auto batch =
      stoker::broadcast(Shape::make(batch_of(a), op), Shape::make(batch_of(matrix), op));
  if (!batch)
    throw Error{op,
                ErrorCode::shape_mismatch,
                "shape mismatch: lhs " + a.shape().to_string() + ", rhs " + b.shape().to_string(),
                {{"lhs", a.spec().to_string()}, {"rhs", b.spec().to_string()}}};
  const auto spread = [&](const Tensor& x) {
    const Shape shape = batch->appended(x.shape()[x.rank() - 2]).appended(x.shape()[x.rank() - 1]);
    return as_type(stoker::broadcast(x, shape), dtype);
  };
  const Tensor x{solve(spread(a).value(), spread(matrix).value())};
  const Tensor given = as_type(x, expr::floating(expr::merged(a.dtype(), b.dtype())));
  return vector ? squeeze(given, Axes{left ? -1 : -2}) : given;
}

double longer_side(const Tensor& matrices) {
  const Shape& shape = matrices.shape();
  return static_cast<double>(std::max(shape[shape.rank() - 1], shape[shape.rank() - 2]));
}

/// The inverse with the singular values that are kept.
Tensor inverted(const Svd& parts, const Tensor& is_kept) {
  const Tensor inverse = select(is_kept, 1.0 / select(is_kept, parts.s, 1), 0);
  return matmul(adjoint(parts.vt) * new_axis(inverse, -2), adjoint(parts.u));
}

}  // namespace

Tensor adjoint(const Tensor& a) {
  if (a.rank() < 2)
    throw Error{"adjoint", ErrorCode::shape_mismatch,
                "expected matrices, got " + a.spec().to_string()};
  const Tensor turned{expr::matrix_transpose(a.value())};
  return is_complex(a) ? conjugate(turned) : turned;
}

Tensor cholesky(const Tensor& a) { return narrowed(factors("cholesky", a)[0], a); }

Lu lu(const Tensor& a) {
  const expr::Values made = factors("lu", a);
  return {narrowed(made[0], a), narrowed(made[1], a), narrowed(made[2], a)};
}

Qr qr(const Tensor& a, bool complete) {
  const expr::Values made =
      factors("qr", a, {{"mode", std::string{complete ? "complete" : "reduced"}}});
  return {narrowed(made[0], a), narrowed(made[1], a)};
}

Eigh eigh(const Tensor& a) {
  const expr::Values made = factors("eigh", a);
  return {narrowed(made[0], a), narrowed(made[1], a)};
}

Svd svd(const Tensor& a, bool full_matrices) {
  const expr::Values made = factors("svd", a, {{"full_matrices", full_matrices}});
  return {narrowed(made[0], a), narrowed(made[1], a), narrowed(made[2], a)};
}

Tensor triangular_solve(const Tensor& a, const Tensor& b, const Triangle& how) {
  return solved(
      "triangular_solve", a, b, how.left_side,
      [&](const expr::Value& left, const expr::Value& right) {
        return expr::apply_one(
            expr::find_op("triangular_solve"), {left, right},
            {{"lower", how.lower}, {"left_side", how.left_side}, {"transpose", how.transpose}});
      });
}

Tensor solve(const Tensor& a, const Tensor& b) {
  return solved("solve", a, b, true, [](const expr::Value& left, const expr::Value& right) {
    return expr::apply_one(expr::find_op("solve"), {left, right});
  });
}

Tensor invert(const Tensor& a) {
  check_square("invert", a);
  return solve(a, eye(a.shape(), expr::floating(a.dtype())));
}

Tensor determinant(const Tensor& a) { return narrowed(factors("determinant", a)[0], a); }

Tensor matrix_power(const Tensor& a, std::int64_t n) {
  check_square("matrix_power", a);
  Tensor base = n < 0 ? invert(a) : a;
  Tensor result = eye(a.shape(), base.dtype());
  for (auto left = n < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(n)
                         : static_cast<std::uint64_t>(n);
       left > 0; left >>= 1) {
    if (left & 1) result = matmul(result, base);
    base = matmul(base, base);
  }
  return result;
}

Tensor pinv(const Tensor& a, std::optional<double> rcond) {
  if (rcond && !(*rcond >= 0))
    throw Error{
        "pinv",
        ErrorCode::invalid_argument,
        "expected a part of the largest singular value, from 0 on, got " + std::to_string(*rcond),
        {{"rcond", std::to_string(*rcond)}}};
  const Svd parts = svd(a, false);
  if (parts.s.size() == 0) return inverted(parts, parts.s > 0);
  const double epsilon = parts.s.dtype() == DType::f64 ? 0x1p-52 : 0x1p-23;
  const Tensor limit =
      reduce_max(parts.s, {Axes{-1}, true}) * rcond.value_or(epsilon * longer_side(a));
  return inverted(parts, parts.s > limit);
}

Tensor matrix_rank(const Tensor& a, double eps) {
  const Tensor s = svd(a, false).s;
  const Tensor limit = reduce_max(s, {Axes{-1}, true}) * (eps * longer_side(a));
  return as_type(sum(s > limit, {Axes{-1}}), DType::s32);
}

Tensor least_squares(const Tensor& a, const Tensor& b) { return matmul(pinv(a), b); }

}  // namespace stoker::linalg
