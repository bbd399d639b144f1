#include <numeric>

#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/linear_algebra/matrices.hpp"

namespace stoker::kernels::svd {
namespace {

using Vector = std::vector<double>;
/// Columns: column(j)[i].
using Columns = std::vector<Vector>;

// Full matrices have a unique last vector where they have one more than min(m, n); where they have
// several more, tests/kernels/linear_algebra_test.cpp looks at their properties.
std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto add = [&](std::string label, Shape shape, bool full) {
      cases.push_back(
          {.label = std::string{to_string(dtype)} + (full ? "_full_" : "_thin_") + label,
           .inputs = {{dtype, shape}},
           .params = {{"full_matrices", full}}});
    };
    for (const bool full : {false, true}) {
      add("one", Shape{1, 1}, full);
      add("small", Shape{17, 3, 3}, full);
      add("one_more_row", Shape{3, 8, 7}, full);
      add("one_more_column", Shape{3, 7, 8}, full);
      add("past_a_block", Shape{40, 39}, full);
      add("rank_8", Shape{2, 1, 3, 2, 1, 2, 3, 2}, full);
      add("no_batch", Shape{0, 3, 3}, full);
    }
    add("tall", Shape{2, 31, 5}, false);
    add("wide", Shape{2, 5, 31}, false);
    add("column", Shape{3, 7, 1}, false);
    add("row", Shape{3, 1, 7}, false);
  }
  return cases;
}

double dot(const Vector& x, const Vector& y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

/// Hestenes' one-sided Jacobi method: turns pairs of columns until all are orthogonal.
/// Golub, Van Loan, Matrix Computations, 4th ed., 8.6.
void orthogonalize(Columns& a, Columns& v) {
  const auto turn = [](Vector& x, Vector& y, double c, double s) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double old = x[i];
      x[i] = c * old - s * y[i];
      y[i] = s * old + c * y[i];
    }
  };
  for (int sweep = 0; sweep < 40; ++sweep)
    for (std::size_t p = 0; p < a.size(); ++p)
      for (std::size_t q = p + 1; q < a.size(); ++q) {
        const double pq = dot(a[p], a[q]);
        if (pq == 0) continue;
        const double theta = (dot(a[q], a[q]) - dot(a[p], a[p])) / (2 * pq);
        const double t = std::copysign(1 / (std::abs(theta) + std::sqrt(theta * theta + 1)), theta);
        const double c = 1 / std::sqrt(t * t + 1);
        turn(a[p], a[q], c, t * c);
        turn(v[p], v[q], c, t * c);
      }
}

/// A unit vector orthogonal to `basis`, which spans all axes but one.
Vector missing(const Columns& basis, std::size_t size) {
  Vector best;
  for (std::size_t axis = 0; axis < size; ++axis) {
    Vector x(size, 0);
    x[axis] = 1;
    for (int twice = 0; twice < 2; ++twice)
      for (const Vector& b : basis) {
        const double along = dot(b, x);
        for (std::size_t i = 0; i < size; ++i) x[i] -= along * b[i];
      }
    if (best.empty() || dot(x, x) > dot(best, best)) best = x;
  }
  const double length = std::sqrt(dot(best, best));
  for (double& value : best) value /= length;
  return best;
}

double sign_of(const Vector& x) {
  double largest = 0;
  for (const double value : x) largest = std::max(largest, std::abs(value));
  for (const double value : x)
    if (std::abs(value) >= 0.999 * largest) return value < 0 ? -1 : 1;
  return 1;
}

struct Decomposition {
  Columns u;
  Vector singular;
  Columns v;
};

/// Precondition: at least as many rows as columns.
Decomposition decompose_tall(Columns a) {
  const std::size_t columns = a.size();
  Columns v(columns, Vector(columns, 0));
  for (std::size_t i = 0; i < columns; ++i) v[i][i] = 1;
  orthogonalize(a, v);
  std::vector<std::size_t> order(columns);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t x, std::size_t y) { return dot(a[x], a[x]) > dot(a[y], a[y]); });
  Decomposition result;
  for (const std::size_t i : order) {
    const double length = std::sqrt(dot(a[i], a[i]));
    for (double& value : a[i]) value /= length;
    result.singular.push_back(length);
    result.u.push_back(a[i]);
    result.v.push_back(v[i]);
  }
  return result;
}

Decomposition decompose(const Vector& input, std::size_t first, std::size_t rows,
                        std::size_t columns, bool full) {
  const bool tall = rows >= columns;
  Columns a(tall ? columns : rows, Vector(tall ? rows : columns));
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      (tall ? a[j][i] : a[i][j]) = input[first + i * columns + j];
  Decomposition result = decompose_tall(std::move(a));
  if (full && rows != columns) result.u.push_back(missing(result.u, std::max(rows, columns)));
  if (!tall) std::swap(result.u, result.v);
  for (std::size_t i = 0; i < std::max(result.u.size(), result.v.size()); ++i) {
    const double sign = sign_of(i < result.u.size() ? result.u[i] : result.v[i]);
    if (i < result.u.size())
      for (double& value : result.u[i]) value *= sign;
    if (i < result.v.size())
      for (double& value : result.v[i]) value *= sign;
  }
  return result;
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "svd";
  suite.cases = all_cases();
  suite.reference = [](const KernelCall& call, std::span<const TensorSpec>,
                       const std::vector<std::vector<double>>& inputs) {
    const auto m = linear_algebra::matrices("svd", call.inputs[0]).value();
    const auto rows = static_cast<std::size_t>(m.rows);
    const auto columns = static_cast<std::size_t>(m.columns);
    std::vector<std::vector<double>> result(3);
    for (std::size_t first = 0; first < inputs[0].size(); first += rows * columns) {
      const Decomposition d =
          decompose(inputs[0], first, rows, columns, call.params.flag("full_matrices"));
      for (std::size_t i = 0; i < rows; ++i)
        for (const Vector& column : d.u) result[0].push_back(column[i]);
      result[1].insert(result[1].end(), d.singular.begin(), d.singular.end());
      for (const Vector& column : d.v)
        result[2].insert(result[2].end(), column.begin(), column.end());
    }
    return result;
  };
  // Both dtypes compute in f64, which loses a few thousand units for close singular values.
  suite.bound = [](const KernelCall& call) {
    return ErrorBound{.absolute = call.dtype() == DType::f64 ? 1e-11 : 1e-7,
                      .relative = 2 * cases::rounding(call.dtype())};
  };
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::svd
