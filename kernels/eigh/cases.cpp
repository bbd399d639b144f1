#include <numeric>

#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/linear_algebra/matrices.hpp"

namespace stoker::kernels::eigh {
namespace {

using Matrix = std::vector<std::vector<double>>;

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto add = [&](std::string label, Shape shape) {
      cases.push_back(
          {.label = std::string{to_string(dtype)} + "_" + label, .inputs = {{dtype, shape}}});
    };
    add("one", Shape{1, 1});
    add("twos", Shape{31, 2, 2});
    add("threes", Shape{17, 3, 3});
    add("of_7", Shape{3, 2, 7, 7});
    add("of_13", Shape{13, 13});
    add("past_a_block", Shape{37, 37});
    add("rank_8", Shape{2, 1, 3, 2, 1, 2, 4, 4});
    add("empty", Shape{3, 0, 0});
    add("no_batch", Shape{0, 3, 3});
  }
  return cases;
}

/// Turns axes p and q of `a` and `vectors` so that a[p][q] becomes 0.
void rotate(Matrix& a, Matrix& vectors, std::size_t p, std::size_t q) {
  if (a[p][q] == 0) return;
  const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  const double t = std::copysign(1 / (std::abs(theta) + std::sqrt(theta * theta + 1)), theta);
  const double c = 1 / std::sqrt(t * t + 1), s = t * c;
  const auto turn = [&](double& x, double& y) {
    const double old = x;
    x = c * old - s * y;
    y = s * old + c * y;
  };
  for (auto& row : a) turn(row[p], row[q]);
  for (std::size_t i = 0; i < a.size(); ++i) turn(a[p][i], a[q][i]);
  for (auto& row : vectors) turn(row[p], row[q]);
}

/// Jacobi's cyclic method: Golub, Van Loan, Matrix Computations, 4th ed., 8.5.
Matrix diagonalize(Matrix& a) {
  const std::size_t n = a.size();
  Matrix vectors(n, std::vector<double>(n, 0));
  for (std::size_t i = 0; i < n; ++i) vectors[i][i] = 1;
  for (int sweep = 0; sweep < 30; ++sweep)
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) rotate(a, vectors, p, q);
  return vectors;
}

/// 1 or -1, so that the first component of nearly the largest magnitude becomes positive.
double sign_of(const Matrix& vectors, std::size_t column) {
  double largest = 0;
  for (const auto& row : vectors) largest = std::max(largest, std::abs(row[column]));
  for (const auto& row : vectors)
    if (std::abs(row[column]) >= 0.999 * largest) return row[column] < 0 ? -1 : 1;
  return 1;
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "eigh";
  suite.cases = all_cases();
  suite.reference = [](const KernelCall& call, std::span<const TensorSpec>,
                       const std::vector<std::vector<double>>& inputs) {
    const auto m = linear_algebra::matrices("eigh", call.inputs[0]).value();
    const auto n = static_cast<std::size_t>(m.rows);
    std::vector<std::vector<double>> result(2);
    for (std::size_t first = 0; first < inputs[0].size(); first += n * n) {
      Matrix a(n, std::vector<double>(n));
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          a[i][j] = inputs[0][first + std::max(i, j) * n + std::min(i, j)];
      const Matrix vectors = diagonalize(a);
      std::vector<std::size_t> order(n);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::sort(order.begin(), order.end(),
                [&](std::size_t x, std::size_t y) { return a[x][x] < a[y][y]; });
      for (const std::size_t i : order) result[0].push_back(a[i][i]);
      for (std::size_t row = 0; row < n; ++row)
        for (const std::size_t i : order)
          result[1].push_back(vectors[row][i] * sign_of(vectors, i));
    }
    return result;
  };
  // Vectors lose what their eigenvalue has in common with the next one.
  suite.bound = [](const KernelCall& call) {
    return ErrorBound{.absolute = 10000 * cases::rounding(call.dtype())};
  };
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::eigh
