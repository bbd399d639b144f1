#include "stoker/kernels/indexing/case_index.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::pad {
namespace {

using List = std::vector<std::int64_t>;

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  const auto add = [&](std::string label, DType dtype, Shape x, List low, List high,
                       List interior = {}, bool heavy = false) {
    cases.push_back({.label = std::move(label),
                     .inputs = {{dtype, x}, {dtype, Shape{}}},
                     .params = {{"low", std::move(low)},
                                {"high", std::move(high)},
                                {"interior", std::move(interior)}},
                     .fills = {cases::telling(dtype)},
                     .heavy = heavy});
  };
  for (const DType dtype : rules::all_dtypes()) {
    const std::string name{to_string(dtype)};
    add(name + "_border", dtype, Shape{7, 13}, {1, 2}, {3, 1});
    add(name + "_aligned", dtype, Shape{5, 12}, {1, 4}, {0, 8});
    add(name + "_crop", dtype, Shape{7, 13}, {-2, 3}, {1, -4});
    add(name + "_dilated", dtype, Shape{7, 13}, {1, -1}, {0, 2}, {2, 1});
    add(name + "_channels", dtype, Shape{9, 11, 3}, {2, 1, 0}, {1, 2, 0});
  }
  const auto f32 = [&](std::string label, Shape x, List low, List high, List interior = {},
                       bool heavy = false) {
    add(std::move(label), DType::f32, x, std::move(low), std::move(high), std::move(interior),
        heavy);
  };
  f32("defaults", Shape{5, 3}, {}, {});
  f32("scalar", Shape{}, {}, {});
  f32("of_none", Shape{0, 3}, {2, 0}, {1, 1});
  f32("of_none_dilated", Shape{0}, {2}, {1}, {5});
  f32("to_none", Shape{4, 3}, {-4, 0}, {0, 0});
  f32("one_dilated", Shape{1}, {0}, {0}, {9});
  f32("cropped_past_the_end", Shape{4}, {-9}, {12});
  f32("cropped_before_the_start", Shape{4}, {12}, {-9});
  f32("crops_between", Shape{4, 4}, {-1, -2}, {-1, -3}, {2, 3});
  f32("only_interior", Shape{5, 6, 7}, {}, {}, {0, 3, 1});
  f32("outer_dilated_rows_whole", Shape{5, 6, 7}, {1, 0, 0}, {1, 0, 0}, {2, 0, 0});
  f32("outer_axis", Shape{5, 6, 7}, {1, 0, 0}, {2, 0, 0});
  f32("line", Shape{4099}, {3}, {5});
  f32("rank_8", Shape{2, 1, 3, 2, 1, 2, 3, 2}, {1, 0, 1, 0, 1, -1, 0, 1}, {0, 1, 0, 1, 1, 1, 0, 0},
      {0, 0, 1, 0, 2, 0, 1, 0});
  f32("rank_8_all", Shape{2, 2, 2, 2, 2, 2, 2, 2}, List(8, 1), List(8, 0), List(8, 1));
  add("rank_8_all_f64", DType::f64, Shape{2, 2, 2, 2, 2, 2, 2, 2}, List(8, 1), List(8, -1));
  f32("image_border", Shape{3, 224, 224}, {0, 1, 1}, {0, 1, 1});
  f32("long_rows", Shape{3, 200003}, {0, 7}, {1, 9});
  f32("past_the_cache", Shape{1500, 3001}, {1, 5}, {2, 6}, {}, true);
  return cases;
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "pad";
  suite.cases = all_cases();
  // The other way round than the kernels: every entry of x is put where it belongs.
  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    const auto entry = [&](const char* name, std::size_t axis) {
      const List& all = call.params.integers(name);
      return all.empty() ? 0 : all[axis];
    };
    const Shape& shape = outputs[0].shape;
    std::vector<double> result(outputs[0].elements(), inputs[1][0]);
    cases::Coordinates walk{call.shape()};
    for (const double element : inputs[0]) {
      std::vector<std::int64_t> at = walk.at();
      bool inside = true;
      for (std::size_t axis = 0; axis < at.size(); ++axis) {
        at[axis] = at[axis] * (1 + entry("interior", axis)) + entry("low", axis);
        inside = inside && at[axis] >= 0 && at[axis] < shape[axis];
      }
      if (inside) result[cases::position(shape, at)] = element;
      walk.next();
    }
    return std::vector<std::vector<double>>{std::move(result)};
  };
  suite.bound = [](const KernelCall&) { return ErrorBound{}; };
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::pad
