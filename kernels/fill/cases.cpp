#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::fill {
namespace {

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  for (const DType dtype : rules::all_dtypes()) {
    const std::string name{to_string(dtype)};
    const Params params{{"dtype", name}, {"value", 3}, {"shape", {7, 13, 31}}};
    cases.push_back({.label = name + "_primes", .inputs = {}, .params = params});
    for (const std::int64_t n : {1, 3, 17})
      cases.push_back({.label = name + "_" + std::to_string(n),
                       .inputs = {},
                       .params = {{"dtype", name}, {"value_int", 1}, {"shape", {n}}}});
  }
  for (const auto& [label, shape] : cases::awkward_shapes()) {
    cases.push_back({.label = label,
                     .inputs = {},
                     .params = {{"value", 0.1},
                                {"shape", std::vector<std::int64_t>{shape.begin(), shape.end()}}}});
    cases.push_back(
        {.label = "like_" + label, .inputs = {{DType::s16, shape}}, .params = {{"value", -300}}});
  }
  cases.push_back({.label = "like_with_dtype",
                   .inputs = {{DType::f32, Shape{5, 7}}},
                   .params = {{"dtype", "f64"}, {"value", 0.1}}});
  cases.push_back(
      {.label = "nan", .inputs = {}, .params = {{"value", std::nan("")}, {"shape", {9}}}});
  cases.push_back({.label = "f16_overflow_is_infinite",
                   .inputs = {},
                   .params = {{"value", 1e6}, {"dtype", "f16"}, {"shape", {9}}}});
  cases.push_back({.label = "large",
                   .inputs = {},
                   .params = {{"value", 7}, {"dtype", "u8"}, {"shape", {(1 << 24) + 13}}},
                   .heavy = true});
  return cases;
}

double want(const KernelCall& call, DType dtype) {
  const double value =
      call.params.real("value") + static_cast<double>(call.params.integer("value_int"));
  if (dtype == DType::boolean) return value != 0 ? 1 : 0;
  return dtype == DType::f16 && value > 65520 ? std::numeric_limits<double>::infinity() : value;
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "fill";
  suite.cases = all_cases();
  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>&) {
    std::vector<double> result(outputs[0].elements(), want(call, outputs[0].dtype));
    return std::vector<std::vector<double>>{std::move(result)};
  };
  // One rounding of the parameter to the dtype; bf16 has the largest.
  suite.bound = [](const KernelCall&) {
    return ErrorBound{.relative = cases::rounding(DType::bf16)};
  };
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::fill
