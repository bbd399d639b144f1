// The reference of every kernel is its scalar function's. The functions' edges are tested with fused programs
// (tests/kernels); here are shapes, dtypes and what each backend makes of them.
#include <algorithm>

#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/elementwise/functions.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/strided_walk.hpp"

namespace stoker::kernels::elementwise {
namespace {

struct NamedPair {
  std::string label;
  Shape lhs;
  Shape rhs;
  bool heavy = false;
};

std::vector<NamedPair> pairs() {
  std::vector<NamedPair> result;
  for (const auto& [label, shape] : cases::awkward_shapes())
    result.push_back({label, shape, shape});
  const NamedPair broadcasts[] = {
      {"scalar_right", Shape{5, 7}, Shape{}},
      {"scalar_left", Shape{1}, Shape{4, 9}},
      {"bias_row", Shape{129, 64}, Shape{64}},
      {"bias_row_of_3", Shape{700, 3}, Shape{3}},
      {"bias_row_prime", Shape{31, 127}, Shape{127}},
      {"column", Shape{67, 1}, Shape{67, 60}},
      {"column_prime", Shape{67, 61}, Shape{67, 1}},
      {"outer_product", Shape{33, 1}, Shape{1, 65}},
      {"middle", Shape{5, 1, 12}, Shape{5, 7, 12}},
      {"middle_prime", Shape{5, 1, 11}, Shape{5, 7, 11}},
      {"long_rows", Shape{3, 4099}, Shape{3, 1}},
      {"channel_bias", Shape{2, 5, 8, 8}, Shape{5, 1, 1}},
      {"ranks_differ", Shape{3, 4}, Shape{2, 2, 3, 4}},
      {"empty_broadcast", Shape{0, 3}, Shape{1, 3}},
      {"rank_8_alternating", Shape{2, 1, 3, 1, 2, 1, 3, 1}, Shape{1, 2, 1, 3, 1, 2, 1, 5}},
      {"many_groups", Shape{65537, 1}, Shape{1, 257}, true},
  };
  result.insert(result.end(), std::begin(broadcasts), std::end(broadcasts));
  return result;
}

/// Values far from 0, for each operand.
std::vector<Fill> wide(std::string_view kernel, DType dtype) {
  const bool is_real = is_float(dtype);
  if (kernel == "pow")
    return is_real ? std::vector<Fill>{{0, 30}, {-6, 6}} : std::vector<Fill>{{-3, 3}, {-2, 9}};
  if (kernel == "log" || kernel == "sqrt") return {{1e-3, 6e4}};
  if (kernel == "exp")
    return dtype == DType::f64   ? std::vector<Fill>{{-740, 709}}
           : dtype == DType::f16 ? std::vector<Fill>{{-20, 11}}
                                 : std::vector<Fill>{{-110, 88}};
  if (kernel == "abs" || kernel == "negate" || kernel == "relu") return {{-6e4, 6e4}};
  if (is_real) return {{-90, 90}};
  // Wraps in the narrow dtypes.
  return {{-30000, 30000}, {-300, 300}};
}

std::vector<KernelCase> cases_of_one(const Elementwise& kernel) {
  std::vector<KernelCase> cases;
  const std::vector<DType> dtypes = kernel.dtypes();
  for (const DType dtype : dtypes) {
    const std::string name{to_string(dtype)};
    cases.push_back({.label = name + "_near", .inputs = {{dtype, Shape{61, 67}}}});
    cases.push_back({.label = name + "_wide",
                     .inputs = {{dtype, Shape{61, 67}}},
                     .fills = wide(kernel.name, dtype)});
    cases.push_back({.label = name + "_zeros", .inputs = {{dtype, Shape{5}}}, .fills = {{0, 0}}});
    if (is_float(dtype))
      cases.push_back({.label = name + "_specials",
                       .inputs = {{dtype, Shape{331}}},
                       .fills = {{.specials = true}}});
  }
  for (const auto& [label, shape] : cases::awkward_shapes())
    cases.push_back({.label = label, .inputs = {{dtypes[0], shape}}});
  // One function is enough for what does not depend on the function.
  if (kernel.name == "abs")
    cases.push_back(
        {.label = "large", .inputs = {{dtypes[0], Shape{(1 << 23) + 5}}}, .heavy = true});
  return cases;
}

std::vector<KernelCase> cases_of_two(const Elementwise& kernel) {
  std::vector<KernelCase> cases;
  const std::vector<DType> dtypes = kernel.dtypes();
  for (const DType dtype : dtypes) {
    const std::string name{to_string(dtype)};
    // Every shape in one dtype, and the ones that choose a different path in the others.
    for (const NamedPair& pair : pairs())
      if ((dtype == dtypes[0] && (!pair.heavy || kernel.name == "add")) ||
          (!pair.heavy && (pair.label == "primes" || pair.label == "bias_row" ||
                           pair.label == "column_prime" || pair.label == "scalar_left")))
        cases.push_back({.label = name + "_" + pair.label,
                         .inputs = {{dtype, pair.lhs}, {dtype, pair.rhs}},
                         .heavy = pair.heavy});
    cases.push_back({.label = name + "_wide_values",
                     .inputs = {{dtype, Shape{37, 29}}, {dtype, Shape{37, 29}}},
                     .fills = wide(kernel.name, dtype)});
    if (is_float(dtype))
      cases.push_back({.label = name + "_specials",
                       .inputs = {{dtype, Shape{37, 29}}, {dtype, Shape{37, 29}}},
                       .fills = {{.specials = true}}});
    // Small numbers meet themselves, and 0.
    if (is_integer(dtype))
      cases.push_back({.label = name + "_small_values",
                       .inputs = {{dtype, Shape{37, 29}}, {dtype, Shape{29}}},
                       .fills = {{kernel.name == "pow" ? Fill{-2, 2} : Fill{-120, 120}}, {-2, 2}}});
  }
  // Tests of fused programs see every function with every dtype; `add` shows how each dtype is loaded.
  if (kernel.name != "add") cases::leave_to_sibling(cases);
  return cases;
}

/// `exact` as a number of `dtype`, but for its rounding.
double within(double exact, DType dtype) {
  if (dtype == DType::u64 && exact < 0) return exact + 0x1p64;
  const double most = dtype == DType::f16                           ? 65520
                      : dtype == DType::f32 || dtype == DType::bf16 ? 0x1.ffffffp127
                                                                    : HUGE_VAL;
  if (is_float(dtype) && std::abs(exact) >= most) return std::copysign(HUGE_VAL, exact);
  return cases::wrapped(exact, dtype);
}

std::vector<std::vector<double>> reference(const ScalarFunction& function, const KernelCall& call,
                                           const TensorSpec& output,
                                           const std::vector<std::vector<double>>& inputs) {
  const Strides dense = output.shape.strides();
  std::vector<Strides> strides;
  for (const TensorSpec& input : call.inputs)
    strides.push_back(broadcast_strides(input.shape, output.shape));
  std::vector<double> result(output.elements());
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i);
    std::int64_t at[2] = {};
    for (std::size_t axis = 0; axis < output.shape.rank(); ++axis) {
      for (std::size_t k = 0; k < strides.size(); ++k)
        at[k] += rest / dense[axis] * strides[k][axis];
      rest %= dense[axis];
    }
    double x[2] = {};
    for (std::size_t k = 0; k < strides.size(); ++k)
      x[k] = inputs[k][static_cast<std::size_t>(at[k])];
    result[i] = within(function.reference(x, call.dtype()), output.dtype);
  }
  return {std::move(result)};
}

/// What the function itself may be off by, and one rounding of its result. Vulkan grants quotients and roots
/// 2.5 units in the last place, of which a function takes several; the 16-bit floats round once more.
ErrorBound bound(const ScalarFunction& function, DType dtype) {
  if (function.result == ScalarResult::truth || !is_float(dtype)) return {};
  // The result is a number of the dtype already: nothing rounds it.
  if (function.closed) return {cases::subnormal(dtype), 0};
  const bool divides = function.ulps > 0 || function.name == "divide" || function.name == "sqrt";
  const double steps = 1 + 2 * function.ulps + (divides ? 5 : 0);
  return {cases::subnormal(dtype), steps * cases::compute_rounding(dtype) +
                                       (size_of(dtype) == 2 ? cases::rounding(dtype) : 0)};
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  for (const Group& group : groups()) {
    for (const Elementwise& kernel : kernels_of(group)) {
      KernelSuite suite;
      suite.kernel = kernel.name;
      suite.cases = group[0]->arity == 1 ? cases_of_one(kernel) : cases_of_two(kernel);
      suite.reference = [kernel](const KernelCall& call, std::span<const TensorSpec> outputs,
                                 const std::vector<std::vector<double>>& inputs) {
        return reference(kernel.function(call.dtype()), call, outputs[0], inputs);
      };
      suite.bound = [kernel](const KernelCall& call) {
        return bound(kernel.function(call.dtype()), call.dtype());
      };
      suites.push_back(std::move(suite));
    }
  }
}

}  // namespace stoker::kernels::elementwise
