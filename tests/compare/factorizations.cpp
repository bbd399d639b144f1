// Factorizations and what stands on them, of matrices of full and of low rank.
#include "families.hpp"

namespace stoker::compare {
namespace {

/// Random, or of few directions, or of few different numbers.
Tensor matrix(Draw& draw, DType dtype, std::int64_t rows, std::int64_t columns) {
  const double kind = draw.real(0, 1);
  if (kind < 0.4) return draw.tensor({dtype, Shape{rows, columns}}, Range::moderate);
  const std::int64_t rank = draw.integer(1, 3);
  if (kind < 0.7) {
    const Tensor left = draw.tensor({DType::s32, Shape{rows, rank}}, Range::moderate);
    const Tensor right = draw.tensor({DType::s32, Shape{rank, columns}}, Range::moderate);
    return as_type(matmul(left, right), dtype).eval();
  }
  const Tensor i = iota_along(Shape{rows, columns}, 0), j = iota_along(Shape{rows, columns}, 1);
  const std::int64_t a = draw.integer(1, 9), b = draw.integer(1, 9);
  return as_type((i % a - a / 2) * (j % b - b / 2), dtype).eval();
}

}  // namespace

void factorizations(Draw& draw, Record& record) {
  const DType dtype = draw.chance(0.5) ? DType::f32 : DType::f64;
  const std::int64_t n = draw.extent(130);
  const std::int64_t m = draw.chance(0.4) ? n : draw.extent(130);
  const double kind = draw.real(0, 1);
  const auto add = [&](const char* name, const Tensors& in, const Function& f) {
    record.add(name, Json::object(), in, f);
  };
  if (kind < 0.35)
    return add("svd", {matrix(draw, dtype, m, n)}, [](const Tensors& x) {
      const auto made = linalg::svd(x[0], false);
      return Tensors{made.u, made.s, made.vt};
    });
  if (kind < 0.5)
    return add("qr", {matrix(draw, dtype, m, n)}, [](const Tensors& x) {
      const auto made = linalg::qr(x[0]);
      return Tensors{made.q, made.r};
    });
  if (kind < 0.6)
    return add("lu", {matrix(draw, dtype, m, n)}, [](const Tensors& x) {
      const auto made = linalg::lu(x[0]);
      return Tensors{made.p, made.l, made.u};
    });
  const Tensor a = matrix(draw, dtype, m, n);
  const Tensor square = matmul(linalg::adjoint(a), a).eval();
  if (kind < 0.75)
    return add("eigh", {square}, [](const Tensors& x) {
      const auto made = linalg::eigh(x[0]);
      return Tensors{made.values, made.vectors};
    });
  const Tensor definite = (square + eye(n, dtype)).eval();
  if (kind < 0.85)
    return add("cholesky", {definite},
               [](const Tensors& x) { return Tensors{linalg::cholesky(x[0])}; });
  if (kind < 0.95)
    return add("solve", {definite, draw.tensor({dtype, Shape{n, 3}}, Range::moderate)},
               [](const Tensors& x) { return Tensors{linalg::solve(x[0], x[1])}; });
  add("least_squares", {a, draw.tensor({dtype, Shape{m, 2}}, Range::moderate)},
      [](const Tensors& x) { return Tensors{linalg::least_squares(x[0], x[1])}; });
}

}  // namespace stoker::compare
