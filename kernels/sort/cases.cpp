#include <algorithm>
#include <numeric>

#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/sort/order.hpp"

namespace stoker::kernels::sort {
namespace {

/// Few different values in most dtypes, so that equals show whether the order is stable.
Fill fill_of(DType dtype) { return is_float(dtype) ? Fill{} : Fill{-60, 60}; }

std::vector<KernelCase> axis_cases() {
  std::vector<KernelCase> cases;
  for (const char* direction : {"asc", "desc"}) {
    const auto add = [&](std::string label, DType dtype, Shape shape, std::int64_t axis,
                         bool heavy = false) {
      cases.push_back({.label = label + "_" + direction,
                       .inputs = {{dtype, shape}},
                       .params = {{"axis", axis}, {"direction", direction}},
                       .fills = {fill_of(dtype)},
                       .heavy = heavy});
    };
    for (const DType dtype : rules::all_dtypes()) {
      // The direction is a constant of the shaders, of which a software device compiles one for each dtype.
      if (direction == std::string_view{"desc"} && size_of(dtype) != 4 && dtype != DType::f64 &&
          dtype != DType::boolean)
        continue;
      const std::string name{to_string(dtype)};
      add(name + "_rows", dtype, Shape{7, 128}, 1);
      add(name + "_rows_prime", dtype, Shape{5, 331}, -1);
      add(name + "_rows_short", dtype, Shape{301, 5}, 1);
      add(name + "_columns", dtype, Shape{2, 257, 19}, 1);
      add(name + "_past_a_block", dtype, Shape{2, 1025}, 1);
      add(name + "_blocks", dtype, Shape{5003}, 0);
    }
    for (const auto& [label, shape] : cases::awkward_shapes()) add(label, DType::f32, shape, -1);
    add("first_axis", DType::f32, Shape{2, 1, 3, 2, 1, 2, 3, 2}, 0);
    add("axis_of_one", DType::f32, Shape{5, 1, 7}, 1);
    add("columns_of_blocks", DType::f32, Shape{2100, 3}, 0);
    add("row_cut", DType::f32, Shape{300007}, 0, true);
    add("row_cut_f16", DType::f16, Shape{140000}, 0);
    add("rows_cut", DType::s64, Shape{2, 150001}, 1, true);
    add("large", DType::f32, Shape{3000001}, 0, true);
  }
  return cases;
}

std::vector<KernelCase> top_k_cases() {
  std::vector<KernelCase> cases;
  const auto add = [&](std::string label, DType dtype, Shape shape, std::int64_t k,
                       bool heavy = false) {
    cases.push_back({.label = std::move(label),
                     .inputs = {{dtype, shape}},
                     .params = {{"k", k}},
                     .fills = {fill_of(dtype)},
                     .heavy = heavy});
  };
  for (const DType dtype : rules::all_dtypes()) {
    const std::string name{to_string(dtype)};
    add(name + "_few", dtype, Shape{7, 128}, 3);
    add(name + "_most", dtype, Shape{5, 331}, 300);
    add(name + "_few_of_many", dtype, Shape{3, 5003}, 7);
  }
  add("empty", DType::f32, Shape{0, 3}, 2);
  add("one", DType::f32, Shape{1}, 1);
  add("all", DType::f32, Shape{3, 17}, 17);
  add("first", DType::f32, Shape{2, 3, 1031}, 1);
  add("row_cut", DType::f32, Shape{300007}, 20);
  add("row_cut_many", DType::f32, Shape{300007}, 200000, true);
  add("rank_8", DType::f32, Shape{2, 1, 3, 2, 1, 2, 3, 2}, 1);
  return cases;
}

std::vector<std::vector<double>> reference(Kind kind, const KernelCall& call,
                                           const std::vector<double>& input) {
  const Order order = order_of(kind, call).value();
  const rows::AxisRows& r = order.rows;
  const auto count = static_cast<std::size_t>(r.rows() * order.keep);
  std::vector<double> values(count), indices(count);
  std::vector<std::int64_t> places(static_cast<std::size_t>(r.length));
  for (std::int64_t outer = 0; outer < r.outer; ++outer)
    for (std::int64_t column = 0; column < r.inner; ++column) {
      const auto at = [&](std::int64_t i) {
        return input[static_cast<std::size_t>((outer * r.length + i) * r.inner + column)];
      };
      const auto less = [&](std::int64_t i, std::int64_t j) {
        if (std::isnan(at(i)) || std::isnan(at(j))) return !std::isnan(at(i));
        return at(i) < at(j);
      };
      const auto before = [&](std::int64_t i, std::int64_t j) {
        if (std::isnan(at(i)) && std::isnan(at(j))) return false;
        return order.descending ? less(j, i) : less(i, j);
      };
      std::iota(places.begin(), places.end(), 0);
      std::ranges::stable_sort(places, before);
      for (std::int64_t i = 0; i < order.keep; ++i) {
        const auto to = static_cast<std::size_t>((outer * order.keep + i) * r.inner + column);
        values[to] = at(places[static_cast<std::size_t>(i)]);
        indices[to] = static_cast<double>(places[static_cast<std::size_t>(i)]);
      }
    }
  std::vector<std::vector<double>> result;
  if (order.values) result.push_back(std::move(values));
  if (order.indices) result.push_back(std::move(indices));
  return result;
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  for (const KindName& entry : kinds) {
    KernelSuite suite;
    suite.kernel = entry.kernel;
    suite.cases = entry.kind == Kind::top_k ? top_k_cases() : axis_cases();
    if (entry.kind != Kind::sort) cases::leave_to_sibling(suite.cases);
    suite.reference = [kind = entry.kind](const KernelCall& call, std::span<const TensorSpec>,
                                          const std::vector<std::vector<double>>& inputs) {
      return reference(kind, call, inputs[0]);
    };
    suite.bound = [](const KernelCall&) { return ErrorBound{}; };
    suites.push_back(std::move(suite));
  }
}

}  // namespace stoker::kernels::sort
