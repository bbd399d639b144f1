#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/rows/axis_rows.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::arg_reduce {
namespace {

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  const auto add = [&](std::string label, DType dtype, Shape shape, std::int64_t axis,
                       const char* tie_break, bool heavy = false) {
    // Few different values, so that there are ties; floats have some in the 16-bit dtypes.
    cases.push_back({.label = label + "_" + tie_break,
                     .inputs = {{dtype, shape}},
                     .params = {{"axis", axis}, {"tie_break", tie_break}},
                     .fills = {is_float(dtype) ? Fill{} : Fill{-60, 60}},
                     .heavy = heavy});
  };
  for (const char* tie_break : {"low", "high"}) {
    for (const DType dtype : rules::all_dtypes()) {
      const std::string name{to_string(dtype)};
      add(name + "_rows", dtype, Shape{37, 128}, 1, tie_break);
      add(name + "_rows_prime", dtype, Shape{31, 127}, -1, tie_break);
      add(name + "_rows_short", dtype, Shape{517, 3}, 1, tie_break);
      add(name + "_columns", dtype, Shape{3, 67, 68}, 1, tie_break);
      add(name + "_row_cut", dtype, Shape{150000}, 0, tie_break);
      add(name + "_columns_cut", dtype, Shape{4099, 61}, 0, tie_break);
    }
    for (const auto& [label, shape] : cases::awkward_shapes())
      if (!shape.empty()) add(label, DType::f32, shape, -1, tie_break);
    add("first_axis", DType::f32, Shape{2, 1, 3, 2, 1, 2, 3, 2}, 0, tie_break);
    add("axis_of_one", DType::f32, Shape{5, 1, 7}, 1, tie_break);
    add("row_long_uneven", DType::f32, Shape{300007}, 0, tie_break);
    add("columns_narrow", DType::f32, Shape{70001, 3}, 0, tie_break);
    add("columns_wide", DType::f32, Shape{300, 4099}, 0, tie_break);
    add("large", DType::f32, Shape{3, 3000001}, 1, tie_break, true);
    // All equal: the tie-break alone decides.
    cases.push_back({.label = std::string{"equal_"} + tie_break,
                     .inputs = {{DType::f32, Shape{3, 5001}}},
                     .params = {{"axis", 1}, {"tie_break", tie_break}},
                     .fills = {{1, 1}}});
  }
  cases.push_back(
      {.label = "empty_result", .inputs = {{DType::f32, Shape{0, 3}}}, .params = {{"axis", 1}}});
  cases.push_back({.label = "keeps_the_axis",
                   .inputs = {{DType::f32, Shape{4, 5, 6}}},
                   .params = {{"axis", -2}, {"keepdims", true}}});
  return cases;
}

std::vector<double> reference(bool smallest, const KernelCall& call,
                              const std::vector<double>& input) {
  const rows::AxisRows r = rows::along("reference", call, call.params.integer("axis")).value();
  const bool last = call.params.text("tie_break") == "high";
  std::vector<double> result;
  for (std::int64_t outer = 0; outer < r.outer; ++outer)
    for (std::int64_t column = 0; column < r.inner; ++column) {
      const auto at = [&](std::int64_t i) {
        return input[static_cast<std::size_t>((outer * r.length + i) * r.inner + column)];
      };
      std::int64_t best = 0;
      for (std::int64_t i = 0; i < r.length; ++i) {
        if (std::isnan(at(i))) {
          best = i;
          break;
        }
        const bool better = smallest ? at(i) < at(best) : at(i) > at(best);
        if (better || (last && at(i) == at(best))) best = i;
      }
      result.push_back(static_cast<double>(best));
    }
  return result;
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  for (const bool smallest : {false, true}) {
    KernelSuite suite;
    suite.kernel = smallest ? "argmin" : "argmax";
    suite.cases = all_cases();
    if (smallest) cases::leave_to_sibling(suite.cases);
    suite.reference = [smallest](const KernelCall& call, std::span<const TensorSpec>,
                                 const std::vector<std::vector<double>>& inputs) {
      return std::vector<std::vector<double>>{reference(smallest, call, inputs[0])};
    };
    suite.bound = [](const KernelCall&) { return ErrorBound{}; };
    suites.push_back(std::move(suite));
  }
}

}  // namespace stoker::kernels::arg_reduce
