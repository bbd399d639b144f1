// Gradients of factorizations and of scans, against central differences in f64.
#include "stoker/tests/tensor/differences.hpp"

namespace stoker {
namespace {

using FactorGradients = Tensors;
using ScanGradients = Tensors;

/// Of full rank, with singular values apart from each other.
Tensor matrix(const Shape& shape, double seed = 0) {
  return sin(iota(shape, DType::f64) * 2.7 + seed) + 0.3 * cos(iota(shape, DType::f64) * 5.1);
}

void check(const char* name, const std::function<Tensor(const Tensor&)>& function, const Tensor& at,
           double tolerance = 2e-6) {
  SCOPED_TRACE(name);
  expect_gradient([&](const std::vector<Tensor>& x) { return function(x[0]); }, {at},
                  {tolerance, 1e-6});
}

const std::vector<Shape> shapes{{3, 3}, {4, 3}, {3, 5}, {2, 3, 3}, {2, 4, 2}, {2, 2, 4}, {1, 1}};

TEST_F(FactorGradients, of_lu) {
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(shape.to_string());
    check(
        "l", [](const Tensor& a) { return linalg::lu(a).l; }, matrix(shape));
    check(
        "u", [](const Tensor& a) { return linalg::lu(a).u; }, matrix(shape));
    check(
        "all",
        [](const Tensor& a) {
          const auto [p, l, u] = linalg::lu(a);
          return sin(l) * sum(u * u);
        },
        matrix(shape, 1), 1e-5);
  }
}

TEST_F(FactorGradients, of_qr) {
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(shape.to_string());
    check(
        "q", [](const Tensor& a) { return linalg::qr(a).q; }, matrix(shape), 1e-5);
    check(
        "r", [](const Tensor& a) { return linalg::qr(a).r; }, matrix(shape), 1e-5);
    check(
        "both",
        [](const Tensor& a) {
          const auto [q, r] = linalg::qr(a);
          return sin(q) * sum(r * r);
        },
        matrix(shape, 1), 1e-5);
  }
  check(
      "a complete one that is square", [](const Tensor& a) { return linalg::qr(a, true).q; },
      matrix({3, 3}), 1e-5);
  EXPECT_EQ(
      error_of([] {
        return grad([](const Tensor& a) { return sum(linalg::qr(a, true).q); })(matrix({4, 2}));
      }).code(),
      ErrorCode::unsupported);
}

TEST_F(FactorGradients, of_svd) {
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(shape.to_string());
    check(
        "u", [](const Tensor& a) { return linalg::svd(a, false).u; }, matrix(shape), 1e-5);
    check(
        "s", [](const Tensor& a) { return linalg::svd(a, false).s; }, matrix(shape), 1e-5);
    check(
        "vt", [](const Tensor& a) { return linalg::svd(a, false).vt; }, matrix(shape), 1e-5);
    check(
        "values of the full one", [](const Tensor& a) { return linalg::svd(a).s; }, matrix(shape),
        1e-5);
  }
  EXPECT_EQ(error_of([] {
              return grad([](const Tensor& a) { return sum(linalg::svd(a).u); })(matrix({4, 2}));
            }).code(),
            ErrorCode::unsupported);
}

TEST_F(FactorGradients, of_what_is_made_of_factors) {
  const Tensor a = matrix({3, 3}) + 3.0 * as_type(eye(3), DType::f64);
  check(
      "pinv", [](const Tensor& x) { return linalg::pinv(x); }, matrix({4, 3}), 1e-5);
  check(
      "nuclear norm", [](const Tensor& x) { return linalg::norm(x, linalg::MatrixNorm::nuc); }, a,
      1e-5);
  check(
      "spectral norm", [](const Tensor& x) { return linalg::norm(x, 2); }, a, 1e-5);
  check(
      "matrix_power", [](const Tensor& x) { return linalg::matrix_power(x, -2); }, a, 1e-5);
  check(
      "least_squares",
      [](const Tensor& x) {
        return linalg::least_squares(x, matrix({4, 2}, 2));
      },
      matrix({4, 3}), 1e-5);
  check(
      "solve",
      [](const Tensor& x) {
        return linalg::solve(x, matrix({3, 2}, 2));
      },
      a, 1e-5);
  check(
      "batches of cholesky",
      [](const Tensor& x) {
        return linalg::cholesky(matmul(x, transpose(x, Axes{0, 2, 1})) +
                                as_type(eye(3), DType::f64));
      },
      matrix({2, 3, 3}), 1e-5);
  check(
      "batches of eigh",
      [](const Tensor& x) {
        return linalg::eigh(x + transpose(x, Axes{0, 2, 1})).vectors;
      },
      matrix({2, 3, 3}), 1e-4);
  check(
      "batches of determinants", [](const Tensor& x) { return linalg::determinant(x); },
      matrix({2, 3, 3}), 1e-5);
  check(
      "covariance", [](const Tensor& x) { return covariance(x, 1); }, matrix({4, 3}));
}

TEST_F(FactorGradients,
       are_finite_where_values_are_equal_and_right_for_what_is_made_of_values_alone) {
  const Tensor a = 2.0 * as_type(eye(3), DType::f64);
  const std::vector<double> unit = eye(3).to_vector<double>();
  const auto trace = [](const Tensor& x) { return sum(linalg::eigh(x).values); };
  expect_near(grad(trace)(a), unit, 1e-12);
  expect_near(grad([](const Tensor& x) { return linalg::norm(x, linalg::MatrixNorm::nuc); })(a),
              unit, 1e-12);
  const auto of_vectors = [](const Tensor& x) {
    const auto [u, s, vt] = linalg::svd(x);
    return weighed(linalg::eigh(x).vectors) + weighed(matmul(u * s, vt));
  };
  for (const double one : grad(of_vectors)(a).to_vector<double>()) EXPECT_TRUE(std::isfinite(one));
  // Singular values of 0, of a matrix without rank.
  const auto of_zeros = [](const Tensor& x) {
    return sum(linalg::pinv(x)) + sum(linalg::svd(x).u);
  };
  for (const double one : grad(of_zeros)(zeros({3, 3}, DType::f64)).to_vector<double>())
    EXPECT_TRUE(std::isfinite(one));
}

// --- scans -----------------------------------------------------------------------------------------

TEST_F(ScanGradients, of_cumulative_products) {
  for (const bool reverse : {false, true})
    for (const std::int64_t axis : {0, 1})
      check(
          "product", [&](const Tensor& x) { return cumulative_product(x, axis, reverse); },
          matrix({3, 4}));
  // One zero, and two.
  const Tensor one = tensor<double>({2.0, 0.0, 3.0, -1.5});
  const Tensor two = tensor<double>({2.0, 0.0, 3.0, 0.0, 5.0});
  for (const bool reverse : {false, true}) {
    check(
        "a zero", [&](const Tensor& x) { return cumulative_product(x, 0, reverse); }, one);
    check(
        "zeros", [&](const Tensor& x) { return cumulative_product(x, 0, reverse); }, two);
  }
  const auto first = [](const Tensor& x) {
    return grad([](const Tensor& v) { return weighed(cumulative_product(v)); })(x);
  };
  check("of higher order", first, matrix({4}));
}

TEST_F(ScanGradients, of_cumulative_extremes_go_to_where_they_came_from) {
  for (const bool reverse : {false, true})
    for (const std::int64_t axis : {0, 1}) {
      check(
          "max", [&](const Tensor& x) { return cumulative_max(x, axis, reverse); }, matrix({3, 4}));
      check(
          "min", [&](const Tensor& x) { return cumulative_min(x, axis, reverse); }, matrix({3, 4}));
    }
  const auto of_max = grad([](const Tensor& x) { return sum(cumulative_max(x)); });
  expect_near(of_max(tensor({0.0, 2.0, 2.0, 1.0, 3.0})), {1, 3, 0, 0, 1});
  EXPECT_EQ(of_max(zeros({0})).shape(), (Shape{0}));
}

TEST_F(ScanGradients, of_other_orders) {
  check(
      "median", [](const Tensor& x) { return median(x, 1); }, matrix({3, 4}));
  check(
      "diff", [](const Tensor& x) { return diff(x, 2); }, matrix({2, 5}));
  check(
      "top_k", [](const Tensor& x) { return top_k(x, 2).values; }, matrix({3, 4}));
  check(
      "reflect",
      [](const Tensor& x) {
        return reflect(x, {{2, 3}});
      },
      matrix({4}));
  check(
      "diagonals", [](const Tensor& x) { return put_diagonal(x, take_diagonal(x, 1) * 2, -1); },
      matrix({3, 3}));
  check(
      "weighted_mean", [](const Tensor& x) { return weighted_mean(x, abs(x) + 1, {Axes{1}}); },
      matrix({3, 4}));
}

}  // namespace
}  // namespace stoker
