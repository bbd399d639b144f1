#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/linear_algebra/matrices.hpp"

namespace stoker::kernels::qr {
namespace {

using Matrix = std::vector<std::vector<double>>;

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  for (const DType dtype : {DType::f32, DType::f64})
    for (const char* mode : {"reduced", "complete"}) {
      const auto add = [&](std::string label, Shape shape) {
        cases.push_back({.label = std::string{to_string(dtype)} + "_" + mode + "_" + label,
                         .inputs = {{dtype, shape}},
                         .params = {{"mode", mode}}});
      };
      add("one", Shape{1, 1});
      add("small", Shape{17, 3, 3});
      add("tall", Shape{5, 13, 7});
      add("wide", Shape{5, 7, 13});
      add("column", Shape{2, 31, 1});
      add("row", Shape{2, 1, 31});
      add("past_a_block", Shape{131, 67});
      add("wide_past_a_block", Shape{53, 101});
      add("rank_8", Shape{2, 1, 3, 2, 1, 2, 3, 2});
      add("no_batch", Shape{0, 3, 3});
    }
  return cases;
}

/// Applies 1 - tau · v · vᵀ, where v begins at row `first`, to columns [from, end) of `a`.
void reflect(Matrix& a, const std::vector<double>& v, double tau, std::size_t first,
             std::size_t from) {
  for (std::size_t j = from; j < a[0].size(); ++j) {
    double dot = 0;
    for (std::size_t i = first; i < a.size(); ++i) dot += v[i] * a[i][j];
    for (std::size_t i = first; i < a.size(); ++i) a[i][j] -= tau * dot * v[i];
  }
}

/// One reflection for each column, as LAPACK's dgeqr2 does it: the diagonal gets the sign that its
/// element did not have, and a column without elements below its diagonal stays.
std::pair<Matrix, Matrix> factor(Matrix a) {
  const std::size_t rows = a.size(), columns = a[0].size();
  std::vector<std::vector<double>> vectors;
  std::vector<double> taus;
  for (std::size_t k = 0; k < std::min(rows, columns); ++k) {
    double below = 0;
    for (std::size_t i = k + 1; i < rows; ++i) below += a[i][k] * a[i][k];
    std::vector<double> v(rows, 0);
    double tau = 0;
    v[k] = 1;
    if (below > 0) {
      const double alpha = a[k][k];
      const double beta = -std::copysign(std::sqrt(alpha * alpha + below), alpha);
      tau = (beta - alpha) / beta;
      for (std::size_t i = k + 1; i < rows; ++i) v[i] = a[i][k] / (alpha - beta);
    }
    reflect(a, v, tau, k, k);
    for (std::size_t i = k + 1; i < rows; ++i) a[i][k] = 0;
    vectors.push_back(std::move(v));
    taus.push_back(tau);
  }
  Matrix q(rows, std::vector<double>(rows, 0));
  for (std::size_t i = 0; i < rows; ++i) q[i][i] = 1;
  for (std::size_t k = vectors.size(); k-- > 0;) reflect(q, vectors[k], taus[k], k, 0);
  return {std::move(q), std::move(a)};
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "qr";
  suite.cases = all_cases();
  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    const auto m = linear_algebra::matrices("qr", call.inputs[0]).value();
    const auto inner = static_cast<std::size_t>(outputs[0].shape[outputs[0].shape.rank() - 1]);
    std::vector<std::vector<double>> result(2);
    auto next = inputs[0].begin();
    for (std::int64_t index = 0; index < m.count; ++index) {
      Matrix a;
      for (std::int64_t i = 0; i < m.rows; ++i, next += m.columns)
        a.emplace_back(next, next + m.columns);
      const auto [q, r] = factor(std::move(a));
      for (const auto& row : q)
        result[0].insert(result[0].end(), row.begin(),
                         row.begin() + static_cast<std::ptrdiff_t>(inner));
      for (std::size_t i = 0; i < inner; ++i)
        result[1].insert(result[1].end(), r[i].begin(), r[i].end());
    }
    return result;
  };
  // Units in the last place, for matrices whose condition is what chance gave: up to some hundreds.
  suite.bound = [](const KernelCall& call) {
    const double unit = cases::rounding(call.dtype());
    return ErrorBound{.absolute = 2000 * unit, .relative = 200 * unit};
  };
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::qr
