#include <numeric>

#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/linear_algebra/matrices.hpp"

namespace stoker::kernels::lu {
namespace {

using linear_algebra::Matrices;
using Values = std::vector<std::vector<double>>;

KernelCase one_case(DType dtype, const std::string& label, std::vector<Shape> shapes) {
  KernelCase entry{.label = std::string{to_string(dtype)} + "_" + label, .inputs = {}};
  for (const Shape& shape : shapes) entry.inputs.push_back({dtype, shape});
  return entry;
}

std::vector<KernelCase> lu_cases() {
  std::vector<KernelCase> cases;
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto add = [&](const char* label, Shape shape) {
      cases.push_back(one_case(dtype, label, {shape}));
    };
    add("one", Shape{1, 1});
    add("small", Shape{33, 3, 3});
    add("tall", Shape{5, 13, 7});
    add("wide", Shape{5, 7, 13});
    add("column", Shape{3, 31, 1});
    add("row", Shape{3, 1, 31});
    add("past_a_block", Shape{2, 67, 67});
    add("tall_past_a_block", Shape{131, 37});
    add("wide_past_a_block", Shape{37, 131});
    add("rank_8", Shape{2, 1, 3, 2, 1, 2, 3, 2});
    add("no_batch", Shape{0, 3, 3});
  }
  return cases;
}

std::vector<KernelCase> determinant_cases() {
  std::vector<KernelCase> cases;
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (std::int64_t n = 1; n <= 7; ++n)
      cases.push_back(one_case(dtype, "of_" + std::to_string(n), {Shape{7, 3, n, n}}));
    cases.push_back(one_case(dtype, "scalar", {Shape{5, 5}}));
    cases.push_back(one_case(dtype, "of_23", {Shape{2, 23, 23}}));
    cases.push_back(one_case(dtype, "rank_8", {Shape{2, 1, 3, 2, 1, 2, 4, 4}}));
    cases.push_back(one_case(dtype, "no_batch", {Shape{0, 3, 3}}));
  }
  return cases;
}

std::vector<KernelCase> solve_cases() {
  std::vector<KernelCase> cases;
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto add = [&](const char* label, Shape a, Shape b) {
      cases.push_back(one_case(dtype, label, {a, b}));
    };
    add("one", Shape{1, 1}, Shape{1, 1});
    add("small", Shape{7, 3, 3}, Shape{7, 3, 5});
    add("column", Shape{17, 17}, Shape{17, 1});
    add("past_a_block", Shape{67, 67}, Shape{67, 31});
    add("rank_8", Shape{2, 1, 2, 1, 2, 1, 5, 5}, Shape{2, 1, 2, 1, 2, 1, 5, 2});
    add("no_columns", Shape{3, 3}, Shape{3, 0});
    add("empty", Shape{2, 0, 0}, Shape{2, 0, 4});
  }
  return cases;
}

/// Doolittle's elimination with row exchanges, in place. Returns the parity of the exchanges.
double eliminate(std::vector<std::vector<double>>& a, std::vector<std::size_t>& order) {
  const std::size_t rows = a.size(), columns = rows ? a[0].size() : 0;
  order.resize(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  double parity = 1;
  for (std::size_t k = 0; k < std::min(rows, columns); ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < rows; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    if (pivot != k) {
      std::swap(a[pivot], a[k]);
      std::swap(order[pivot], order[k]);
      parity = -parity;
    }
    for (std::size_t i = k + 1; i < rows; ++i) {
      a[i][k] /= a[k][k];
      for (std::size_t j = k + 1; j < columns; ++j) a[i][j] -= a[i][k] * a[k][j];
    }
  }
  return parity;
}

std::vector<std::vector<double>> matrix_at(const std::vector<double>& values, const Matrices& m,
                                           std::int64_t index) {
  const auto columns = static_cast<std::ptrdiff_t>(m.columns);
  std::vector<std::vector<double>> a;
  for (std::int64_t i = 0; i < m.rows; ++i) {
    const auto row = values.begin() + (index * m.rows + i) * columns;
    a.emplace_back(row, row + columns);
  }
  return a;
}

Values lu_reference(const KernelCall& call, const std::vector<double>& input) {
  const Matrices m = linear_algebra::matrices("lu", call.inputs[0]).value();
  const auto rows = static_cast<std::size_t>(m.rows), columns = static_cast<std::size_t>(m.columns);
  const std::size_t inner = std::min(rows, columns);
  Values result(3);
  for (std::int64_t index = 0; index < m.count; ++index) {
    auto a = matrix_at(input, m, index);
    std::vector<std::size_t> order;
    (void)eliminate(a, order);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < rows; ++j) result[0].push_back(order[j] == i ? 1 : 0);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < inner; ++j) result[1].push_back(j < i ? a[i][j] : j == i ? 1 : 0);
    for (std::size_t i = 0; i < inner; ++i)
      for (std::size_t j = 0; j < columns; ++j) result[2].push_back(j < i ? 0 : a[i][j]);
  }
  return result;
}

Values determinant_reference(const KernelCall& call, const std::vector<double>& input) {
  const Matrices m = linear_algebra::matrices("determinant", call.inputs[0]).value();
  Values result(1);
  for (std::int64_t index = 0; index < m.count; ++index) {
    auto a = matrix_at(input, m, index);
    std::vector<std::size_t> order;
    double product = eliminate(a, order);
    for (std::size_t i = 0; i < a.size(); ++i) product *= a[i][i];
    result[0].push_back(product);
  }
  return result;
}

Values solve_reference(const KernelCall& call, const Values& inputs) {
  const Matrices m = linear_algebra::matrices("solve", call.inputs[0]).value();
  const Matrices right = linear_algebra::matrices("solve", call.inputs[1]).value();
  const auto n = static_cast<std::size_t>(m.rows);
  Values result(1);
  for (std::int64_t index = 0; index < m.count; ++index) {
    auto a = matrix_at(inputs[0], m, index);
    const auto b = matrix_at(inputs[1], right, index);
    std::vector<std::size_t> order;
    (void)eliminate(a, order);
    std::vector<std::vector<double>> x(n);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = b[order[i]];
      for (std::size_t j = 0; j < i; ++j)
        for (std::size_t c = 0; c < x[i].size(); ++c) x[i][c] -= a[i][j] * x[j][c];
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = i + 1; j < n; ++j)
        for (std::size_t c = 0; c < x[i].size(); ++c) x[i][c] -= a[i][j] * x[j][c];
      for (double& value : x[i]) value /= a[i][i];
    }
    for (const auto& row : x) result[0].insert(result[0].end(), row.begin(), row.end());
  }
  return result;
}

void add_suite(std::vector<KernelSuite>& suites, std::string kernel, std::vector<KernelCase> cases,
               Values (*reference)(const KernelCall&, const Values&), double absolute,
               double relative) {
  KernelSuite suite;
  suite.kernel = std::move(kernel);
  suite.cases = std::move(cases);
  suite.reference = [reference](const KernelCall& call, std::span<const TensorSpec>,
                                const Values& inputs) { return reference(call, inputs); };
  suite.bound = [absolute, relative](const KernelCall& call) {
    const double unit = cases::rounding(call.dtype());
    return ErrorBound{absolute * unit, relative * unit};
  };
  suites.push_back(std::move(suite));
}

}  // namespace

// Units in the last place, for matrices whose condition is what chance gave: up to some hundreds.
void suites(std::vector<KernelSuite>& suites) {
  add_suite(
      suites, "lu", lu_cases(),
      [](const KernelCall& call, const Values& inputs) { return lu_reference(call, inputs[0]); },
      4000, 100);
  add_suite(
      suites, "determinant", determinant_cases(),
      [](const KernelCall& call, const Values& inputs) {
        return determinant_reference(call, inputs[0]);
      },
      500, 1000);
  add_suite(suites, "solve", solve_cases(), solve_reference, 20000, 2000);
}

}  // namespace stoker::kernels::lu
