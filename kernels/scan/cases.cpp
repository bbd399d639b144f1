#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/reduce/suites.hpp"
#include "stoker/kernels/rows/axis_rows.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/scan/operation.hpp"

namespace stoker::kernels::scan {
namespace {

/// Sums of any values; products stay near 1 (integers: odd, so that wrapping never leaves zero).
Fill fill_of(Operation operation, DType dtype) {
  if (operation != Operation::product) return is_float(dtype) ? Fill{} : Fill{-100, 100};
  if (is_float(dtype)) return {0.98, 1.02};
  return is_signed(dtype) ? Fill{-1.4, 1.4, true} : Fill{3, 3};
}

std::vector<KernelCase> all_cases(Operation operation) {
  std::vector<KernelCase> cases;
  const auto add = [&](const std::string& label, DType dtype, Shape shape, std::int64_t axis,
                       bool reverse, bool heavy = false) {
    cases.push_back({.label = label + (reverse ? "_reversed" : ""),
                     .inputs = {{dtype, shape}},
                     .params = {{"axis", axis}, {"reverse", reverse}},
                     .fills = {heavy && operation == Operation::product
                                   ? Fill{0.999, 1.001}  // millions of factors stay in range
                                   : fill_of(operation, dtype)},
                     .heavy = heavy});
  };
  for (const bool reverse : {false, true}) {
    for (const DType dtype : rules::numeric_dtypes()) {
      // Which end a scan begins at does not depend on the dtype; a software device compiles a shader for each.
      if (reverse && size_of(dtype) != 4 && dtype != DType::u8 && dtype != DType::f64) continue;
      const std::string name{to_string(dtype)};
      add(name + "_rows", dtype, Shape{7, 124}, 1, reverse);
      add(name + "_rows_prime", dtype, Shape{5, 1031}, -1, reverse);
      add(name + "_short_rows", dtype, Shape{4500, 7}, 1, reverse);
      add(name + "_columns", dtype, Shape{3, 67, 68}, 1, reverse);
      add(name + "_columns_narrow", dtype, Shape{701, 3}, 0, reverse);
      add(name + "_row_cut", dtype, Shape{16397}, 0, reverse);
      add(name + "_columns_cut", dtype, Shape{517, 33}, 0, reverse);
    }
    for (const auto& [label, shape] : cases::awkward_shapes())
      add(label, DType::f32, shape, -1, reverse);
    add("many_rows", DType::f32, Shape{4100, 33}, 1, reverse);
    add("few_short_rows", DType::f32, Shape{9, 16}, 1, reverse);
    add("first_axis", DType::f32, Shape{2, 1, 3, 2, 1, 2, 3, 2}, 0, reverse);
    add("axis_of_one", DType::f32, Shape{5, 1, 7}, 1, reverse);
    add("row_cut_on_quads", DType::f32, Shape{2, 40000}, 1, reverse);
    add("row_cut_often", DType::f32, Shape{300007}, 0, reverse);
    add("columns_long", DType::f32, Shape{70001, 5}, 0, reverse);
    add("columns_wide", DType::f32, Shape{300, 4099}, 0, reverse);
    add("large", DType::f32, Shape{9000001}, 0, reverse, true);
  }
  // Sums show how each dtype is loaded.
  if (operation != Operation::sum) cases::leave_to_sibling(cases, {DType::f32, DType::u8});
  return cases;
}

double combined(Operation operation, double a, double b, DType dtype) {
  switch (operation) {
    case Operation::max: return b > a || std::isnan(b) ? b : a;
    case Operation::min: return b < a || std::isnan(b) ? b : a;
    case Operation::sum: return cases::wrapped(a + b, dtype);
    default: break;  // product
  }
  if (!is_integer(dtype)) return a * b;
  if (size_of(dtype) <= 4) return cases::wrapped(a * b, dtype);
  return a * b;  // s64: of 1 and -1
}

std::vector<double> reference(Operation operation, const KernelCall& call, const TensorSpec&,
                              const std::vector<double>& input) {
  const rows::AxisRows r = rows::along("reference", call, call.params.integer("axis")).value();
  const bool reverse = call.params.flag("reverse");
  std::vector<double> result = input;
  const auto at = [&](std::int64_t outer, std::int64_t i, std::int64_t column) {
    return static_cast<std::size_t>(
        (outer * r.length + (reverse ? r.length - 1 - i : i)) * r.inner + column);
  };
  for (std::int64_t outer = 0; outer < r.outer; ++outer)
    for (std::int64_t column = 0; column < r.inner; ++column) {
      std::uint64_t product = 1;
      for (std::int64_t i = 0; i < r.length; ++i) {
        double& value = result[at(outer, i, column)];
        if (operation == Operation::product && call.dtype() == DType::u64) {
          // Doubles do not hold the product from which the next one is formed.
          product *= static_cast<std::uint64_t>(value);
          value = static_cast<double>(product);
        } else if (i > 0) {
          value = combined(operation, result[at(outer, i - 1, column)], value, call.dtype());
        }
      }
    }
  return result;
}

/// The worst case of chains of 256 additions and what connects them, of values of magnitude up to 2.
/// Columns on a GPU, and pieces of rows, are no longer than the axis.
ErrorBound bound(Operation operation, const KernelCall& call) {
  const DType dtype = call.dtype();
  if (operation == Operation::max || operation == Operation::min || !is_float(dtype)) return {};
  const rows::AxisRows r = rows::along("bound", call, call.params.integer("axis")).value();
  const auto count = static_cast<double>(std::max<std::int64_t>(r.length, 1));
  const double chain = std::min(count, 512 + count / 64);
  const double unit = cases::compute_rounding(dtype);
  // Every multiplication of a product, in whatever order, rounds the result once; those of the
  // reference do too. Of factors near 1 the roundings lean to one side: (1 - i·u)(1 - j·u) is
  // 1 - (i + j)·u + i·j·u², and its last term, mostly below half a unit, is lost.
  if (operation == Operation::product) {
    const double roundings = std::min(count + 1, std::max(16 * std::sqrt(count), count / 100));
    return {cases::subnormal(dtype), cases::rounding(dtype) + 2 * roundings * unit};
  }
  return {chain * unit * 2 * std::sqrt(count), cases::rounding(dtype) + 4 * unit};
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  reduce::add_suites(suites, operations, {&all_cases, &reference, &bound});
}

}  // namespace stoker::kernels::scan
