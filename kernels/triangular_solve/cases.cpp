#include "stoker/kernels/case_grid.hpp"

namespace stoker::kernels::triangular_solve {
namespace {

// Triangles of random numbers are ill conditioned unless they are small; of numbers near 1 they are
// not, since the inverse of the triangle of ones has two bands.
constexpr Fill near_one{0.98, 1.02};
constexpr Fill any{-2, 2, true};

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  for (const DType dtype : {DType::f32, DType::f64})
    for (int which = 0; which < 8; ++which) {
      const bool lower = which & 1, left = which & 2, transpose = which & 4;
      const std::string name = std::string{to_string(dtype)} + (lower ? "_lower" : "_upper") +
                               (left ? "_left" : "_right") + (transpose ? "_transposed" : "");
      const auto add = [&](std::string label, Shape batch, std::int64_t n, std::int64_t m,
                           Fill fill) {
        const Shape b = left ? batch.appended(n).appended(m) : batch.appended(m).appended(n);
        cases.push_back(
            {.label = name + "_" + label,
             .inputs = {{dtype, batch.appended(n).appended(n)}, {dtype, b}},
             .params = {{"lower", lower}, {"left_side", left}, {"transpose", transpose}},
             .fills = {fill, Fill{}}});
      };
      add("one", Shape{}, 1, 1, any);
      add("small", Shape{7}, 3, 5, any);
      add("column", Shape{3}, 4, 1, any);
      add("past_a_block", Shape{2}, 67, 13, near_one);
      add("wide", Shape{}, 31, 257, near_one);
      add("rank_8", Shape{2, 1, 2, 1, 2, 3}, 2, 3, any);
      add("no_columns", Shape{2}, 3, 0, any);
      add("empty", Shape{}, 0, 3, any);
    }
  return cases;
}

struct Problem {
  bool lower, left, transpose;
  std::size_t n, m;
};

/// One column (or row) of b at a time, by substitution from the end where op(a) has one element.
void solve(const Problem& p, const double* a, const double* b, double* x) {
  const bool forward = (p.lower != p.transpose) == p.left;
  const auto op = [&](std::size_t i, std::size_t j) {
    // X·M = B is Mᵀ·Xᵀ = Bᵀ.
    return p.transpose == p.left ? a[j * p.n + i] : a[i * p.n + j];
  };
  for (std::size_t c = 0; c < p.m; ++c) {
    const auto at = [&](std::size_t i) { return p.left ? i * p.m + c : c * p.n + i; };
    for (std::size_t step = 0; step < p.n; ++step) {
      const std::size_t i = forward ? step : p.n - 1 - step;
      double rest = b[at(i)];
      for (std::size_t k = 0; k < step; ++k) {
        const std::size_t j = forward ? k : p.n - 1 - k;
        rest -= op(i, j) * x[at(j)];
      }
      x[at(i)] = rest / op(i, i);
    }
  }
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "triangular_solve";
  suite.cases = all_cases();
  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    std::vector<double> x(outputs[0].elements());
    const auto n = static_cast<std::size_t>(call.shape()[call.shape().rank() - 1]);
    if (x.empty()) return std::vector<std::vector<double>>{x};
    const std::size_t batches = inputs[0].size() / (n * n);
    const std::size_t m = x.size() / batches / n;
    const Problem problem{call.params.flag("lower"), call.params.flag("left_side"),
                          call.params.flag("transpose"), n, m};
    for (std::size_t i = 0; i < batches; ++i)
      solve(problem, inputs[0].data() + i * n * n, inputs[1].data() + i * n * m,
            x.data() + i * n * m);
    return std::vector<std::vector<double>>{std::move(x)};
  };
  // Off-diagonal elements are up to eight times the diagonal's, over four rows.
  suite.bound = [](const KernelCall& call) {
    const double unit = cases::rounding(call.dtype());
    return ErrorBound{.absolute = 2000 * unit, .relative = 500 * unit};
  };
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::triangular_solve
