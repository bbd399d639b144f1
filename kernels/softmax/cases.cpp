#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/softmax/rows.hpp"

namespace stoker::kernels::softmax {
namespace {

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  const auto add = [&](std::string label, DType dtype, Shape shape, std::int64_t axis,
                       Fill fill = {}, bool heavy = false) {
    cases.push_back({.label = std::move(label),
                     .inputs = {{dtype, shape}},
                     .params = {{"axis", axis}},
                     .fills = {fill},
                     .heavy = heavy});
  };
  for (const DType dtype : rules::float_dtypes()) {
    const std::string name{to_string(dtype)};
    add(name + "_rows", dtype, Shape{37, 128}, -1);
    add(name + "_rows_prime", dtype, Shape{31, 127}, -1);
    add(name + "_rows_of_10", dtype, Shape{1031, 10}, 1);
    add(name + "_long_rows", dtype, Shape{3, 4100}, 1);
    add(name + "_columns", dtype, Shape{5, 31, 13}, 1);
    add(name + "_outermost", dtype, Shape{127, 61}, 0);
  }
  for (const auto& [label, shape] : cases::awkward_shapes()) add(label, DType::f32, shape, -1);
  add("wide_range", DType::f32, Shape{17, 300}, 1, {-1000, 1000});
  add("very_long_row", DType::f32, Shape{2, 65537}, 1);
  add("very_long_row_wide", DType::f32, Shape{2, 65536}, 1);
  add("columns_wide", DType::f32, Shape{2, 300, 1028}, 1);
  add("columns_short", DType::f32, Shape{33, 3, 17}, -2);
  add("columns_long", DType::f32, Shape{40000, 3}, 0);
  add("columns_very_long", DType::f32, Shape{1100003, 2}, 0);
  add("rank_8", DType::f32, Shape{2, 3, 2, 3, 2, 3, 2, 3}, 3);
  add("attention", DType::f32, Shape{2, 4, 64, 64}, -1);
  add("many_rows", DType::f32, Shape{1 << 20, 20}, 1, {}, true);
  return cases;
}

std::vector<double> reference(const KernelCall& call, const std::vector<double>& x) {
  const Rows rows = rows_of(call).value();
  std::vector<double> y(x.size());
  for (std::int64_t outer = 0; outer < rows.outer; ++outer)
    for (std::int64_t column = 0; column < rows.inner; ++column) {
      const auto at = [&](std::int64_t i) {
        return static_cast<std::size_t>((outer * rows.length + i) * rows.inner + column);
      };
      double m = -HUGE_VAL, sum = 0;
      for (std::int64_t i = 0; i < rows.length; ++i) m = std::max(m, x[at(i)]);
      for (std::int64_t i = 0; i < rows.length; ++i) sum += y[at(i)] = std::exp(x[at(i)] - m);
      for (std::int64_t i = 0; i < rows.length; ++i) y[at(i)] /= sum;
    }
  return y;
}

/// Vulkan grants the exponential of z an error of 3 + 2 |z| units in the last place, and here |z|
/// is at most the range of the input, beyond 90 of which nothing is left; the sum is a tree over
/// chains of 256, and the quotient adds a few.
ErrorBound bound(const KernelCall& call) {
  const DType dtype = call.dtype();
  const double unit = cases::compute_rounding(dtype);
  const double narrow = size_of(dtype) == 2 ? cases::rounding(dtype) : 0;
  return {std::max(cases::subnormal(dtype), 1e-37), 2 * (3 + 2 * 90) * unit + 256 * unit + narrow};
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "softmax";
  suite.cases = all_cases();
  suite.reference = [](const KernelCall& call, std::span<const TensorSpec>,
                       const std::vector<std::vector<double>>& inputs) {
    return std::vector<std::vector<double>>{reference(call, inputs[0])};
  };
  suite.bound = bound;
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::softmax
