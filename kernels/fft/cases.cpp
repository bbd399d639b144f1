#include <cmath>
#include <complex>

#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/fft/radices.hpp"

namespace stoker::kernels::fft {
namespace {

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  const auto add = [&](std::string label, DType dtype, Shape shape) {
    cases.push_back({.label = std::move(label), .inputs = {{dtype, shape}}});
  };
  for (const DType dtype : {DType::f32, DType::f64}) {
    const std::string name{to_string(dtype)};
    // Every radix, mixed ones, and primes without a pass on the CPU.
    for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 30, 64, 101, 127, 210, 1155})
      add(name + "_length_" + std::to_string(n), dtype, Shape{3, n, 2});
    add(name + "_many_rows", dtype, Shape{37, 48, 2});
  }
  add("length_1009", DType::f32, Shape{2, 1009, 2});
  add("one_row", DType::f32, Shape{1000, 2});
  add("two_steps", DType::f32, Shape{1, 1536, 2});
  add("two_steps_of_rows", DType::f64, Shape{2, 2310, 2});
  add("empty_rows", DType::f32, Shape{0, 8, 2});
  add("empty_length", DType::f32, Shape{4, 0, 2});
  add("rank_8", DType::f32, Shape{2, 1, 2, 1, 3, 1, 6, 2});
  return cases;
}

std::vector<double> reference(const KernelCall& call, const std::vector<double>& x, bool inverse) {
  const Rows rows = rows_of("fft", call.inputs[0]).value();
  std::vector<std::complex<double>> roots;
  for (std::int64_t k = 0; k < rows.n; ++k)
    roots.push_back(inverse ? std::conj(root(k, rows.n)) : root(k, rows.n));
  std::vector<double> y;
  for (std::int64_t row = 0; row < rows.rows; ++row)
    for (std::int64_t k = 0; k < rows.n; ++k) {
      std::complex<double> sum{};
      for (std::int64_t j = 0; j < rows.n; ++j) {
        const auto at = static_cast<std::size_t>(2 * (row * rows.n + j));
        sum += std::complex<double>{x[at], x[at + 1]} *
               roots[static_cast<std::size_t>(j * k % rows.n)];
      }
      if (inverse) sum /= static_cast<double>(rows.n);
      y.push_back(sum.real());
      y.push_back(sum.imag());
    }
  return y;
}

/// Values up to 2 in size, n of them; passes of sums of as many terms as the radix.
ErrorBound bound(const KernelCall& call, bool inverse) {
  const auto n = static_cast<double>(rows_of("fft", call.inputs[0]).value().n);
  const double size = 2 * std::sqrt(2.0) * std::sqrt(std::max(n, 1.0)) * (inverse ? 1 / n : 1);
  const double steps = 8 + 4 * std::log2(std::max(n, 1.0)) + std::sqrt(n);
  return {.absolute = n == 0 ? 0 : size * steps * cases::rounding(call.dtype()), .relative = 0};
}

}  // namespace

void suites(std::vector<KernelSuite>& all) {
  for (const bool inverse : {false, true})
    all.push_back({.kernel = inverse ? "ifft" : "fft",
                   .cases = all_cases(),
                   .reference =
                       [inverse](const KernelCall& call, std::span<const TensorSpec>,
                                 const std::vector<std::vector<double>>& inputs) {
                         return std::vector<std::vector<double>>{
                             reference(call, inputs[0], inverse)};
                       },
                   .bound = [inverse](const KernelCall& call) { return bound(call, inverse); }});
}

}  // namespace stoker::kernels::fft
