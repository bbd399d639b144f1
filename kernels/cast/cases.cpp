#include <algorithm>

#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::cast {
namespace {

struct Range {
  double least;
  double most;
};

/// What integers of `dtype` hold; for 64 bits rounded as a double rounds it.
Range range(DType dtype) {
  const double values = std::ldexp(1.0, static_cast<int>(8 * size_of(dtype)));
  return is_signed(dtype) ? Range{-values / 2, values / 2 - 1} : Range{0, values - 1};
}

double convert(double x, DType from, DType to) {
  if (to == DType::boolean) return x != 0 ? 1 : 0;
  if (to == DType::f16 && std::abs(x) >= 65520) return std::copysign(HUGE_VAL, x);
  if (is_float(to)) return x;
  if (!is_float(from)) {
    if (size_of(to) == 8) return to == DType::u64 && x < 0 ? x + 0x1p64 : x;
    return cases::wrapped(x, to);
  }
  const auto [least, most] = range(to);
  return std::clamp(std::trunc(x), least, most);
}

/// Values that leave the range of narrow dtypes, within what a double and wrapped() hold.
Fill wide_values(DType from) {
  return is_float(from) && size_of(from) > 2 ? Fill{-1e5, 1e5} : Fill{-6e4, 6e4};
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "cast";
  for (const DType from : rules::all_dtypes())
    for (const DType to : rules::all_dtypes()) {
      const std::string pair = std::string{to_string(from)} + "_to_" + std::string{to_string(to)};
      const Params params{{"dtype", std::string{to_string(to)}}};
      // A software GPU compiles a shader for each pair: it sees each dtype as source and as result.
      const auto seen = [](DType dtype) {
        return dtype == DType::f32 || dtype == DType::s64 || dtype == DType::u8;
      };
      const bool heavy = !seen(from) && !seen(to);
      suite.cases.push_back(
          {.label = pair, .inputs = {{from, Shape{7, 151}}}, .params = params, .heavy = heavy});
      suite.cases.push_back({.label = pair + "_wide",
                             .inputs = {{from, Shape{259}}},
                             .params = params,
                             .fills = {wide_values(from)},
                             .heavy = heavy});
    }
  for (const DType to : {DType::s32, DType::u32, DType::s64, DType::u64})
    for (const DType from : {DType::f32, DType::f64})
      suite.cases.push_back(
          {.label = std::string{to_string(from)} + "_saturates_" + std::string{to_string(to)},
           .inputs = {{from, Shape{1025}}},
           .params = {{"dtype", std::string{to_string(to)}}},
           .fills = {{-4e19, 4e19}}});
  for (const auto& [label, shape] : cases::awkward_shapes())
    suite.cases.push_back(
        {.label = label, .inputs = {{DType::u8, shape}}, .params = {{"dtype", "f32"}}});
  suite.cases.push_back({.label = "large",
                         .inputs = {{DType::u8, Shape{(1 << 23) + 5}}},
                         .params = {{"dtype", "f32"}},
                         .heavy = true});
  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    std::vector<double> result(outputs[0].elements());
    std::ranges::transform(inputs[0], result.begin(),
                           [&](double x) { return convert(x, call.dtype(), outputs[0].dtype); });
    return std::vector<std::vector<double>>{std::move(result)};
  };
  // One rounding to a float, and one more to f32 on the way from f64 to a 16-bit float.
  suite.bound = [](const KernelCall& call) {
    const DType to = parse_dtype(call.params.text("dtype")).value_or(DType::f32);
    if (!is_float(to)) return ErrorBound{};
    return ErrorBound{cases::subnormal(to),
                      cases::rounding(to) + (size_of(to) == 2 ? cases::rounding(DType::f32) : 0)};
  };
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::cast
