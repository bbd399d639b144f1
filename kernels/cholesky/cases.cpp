#include "stoker/kernels/case_grid.hpp"

namespace stoker::kernels::cholesky {
namespace {

// Random matrices of any size are hardly ever positive definite, so these are small and many: some
// have a factor, the others give NaN. tests/kernels/linear_algebra_test.cpp has the large ones.
std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto add = [&](std::string label, Shape shape, Fill fill) {
      cases.push_back({.label = std::string{to_string(dtype)} + "_" + label,
                       .inputs = {{dtype, shape}},
                       .params = {},
                       .fills = {fill}});
    };
    add("one", Shape{1, 1}, {1, 2});
    add("ones", Shape{257, 1, 1}, {-1, 2});
    add("twos", Shape{257, 2, 2}, {0.5, 2});
    add("threes", Shape{7, 31, 3, 3}, {0.25, 2});
    add("rank_8", Shape{2, 1, 3, 2, 1, 2, 2, 2}, {0.5, 2});
    add("indefinite", Shape{40, 40}, {-1, 1});
    add("empty", Shape{3, 0, 0}, {});
    add("no_batch", Shape{0, 3, 3}, {});
  }
  return cases;
}

/// Row by row, as the definition of the product is solved for its elements.
void factor(const double* a, double* l, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) rest -= l[i * n + k] * l[j * n + k];
      if (i == j && !(rest > 0)) {
        std::fill_n(l, n * n, std::nan(""));
        return;
      }
      l[i * n + j] = i == j ? std::sqrt(rest) : rest / l[j * n + j];
    }
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "cholesky";
  suite.cases = all_cases();
  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    std::vector<double> l(outputs[0].elements(), 0);
    const auto n = static_cast<std::size_t>(call.shape()[call.shape().rank() - 1]);
    for (std::size_t first = 0; first < l.size(); first += n * n)
      factor(inputs[0].data() + first, l.data() + first, n);
    return std::vector<std::vector<double>>{std::move(l)};
  };
  // Pivots that cancel to a hundredth of the elements lose two digits.
  suite.bound = [](const KernelCall& call) {
    return ErrorBound{.absolute = 100 * cases::rounding(call.dtype())};
  };
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::cholesky
