#include <algorithm>

#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/elementwise_unary/operation.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::elementwise_unary {
namespace {

struct NamedFill {
  std::string label;
  Fill fill;
};

/// Ranges in which the operation behaves differently: around 0, and where it saturates.
std::vector<NamedFill> fills(Operation operation, DType dtype) {
  switch (operation) {
    case Operation::exp:
      if (dtype == DType::f16) return {{"near", {-2, 2}}, {"wide", {-20, 11}}};
      if (dtype == DType::f64) return {{"near", {-2, 2}}, {"wide", {-740, 709}}};
      return {{"near", {-2, 2}}, {"wide", {-110, 88}}};
    case Operation::log:
      return {{"near", {0.5, 2}}, {"wide", {1e-3, 6e4}}, {"nan_below_0", {-2, 2}}};
    case Operation::sqrt: return {{"near", {0, 2}}, {"wide", {0, 6e4}}, {"nan_below_0", {-2, 2}}};
    case Operation::tanh: return {{"near", {-0.5, 0.5}}, {"mid", {-3, 3}}, {"wide", {-50, 50}}};
    case Operation::sigmoid: return {{"near", {-2, 2}}, {"wide", {-120, 120}}};
    case Operation::relu:
    case Operation::abs:
    case Operation::neg: break;
  }
  return {{"near", {-2, 2}}, {"wide", {-6e4, 6e4}}};
}

std::vector<KernelCase> all_cases(const OperationName& entry) {
  std::vector<KernelCase> cases;
  for (const DType dtype : entry.integers ? rules::numeric_dtypes() : rules::float_dtypes()) {
    const std::string name{to_string(dtype)};
    for (const auto& [label, fill] : fills(entry.operation, dtype))
      cases.push_back(
          {.label = name + "_" + label, .inputs = {{dtype, Shape{61, 67}}}, .fills = {fill}});
    cases.push_back({.label = name + "_zeros", .inputs = {{dtype, Shape{5}}}, .fills = {{0, 0}}});
  }
  for (const auto& [label, shape] : cases::awkward_shapes())
    cases.push_back({.label = label, .inputs = {{DType::f32, shape}}});
  cases.push_back(
      {.label = "large", .inputs = {{DType::f32, Shape{(1 << 23) + 5}}}, .heavy = true});
  return cases;
}

double apply(Operation operation, double x, DType dtype) {
  switch (operation) {
    case Operation::relu: return x < 0 ? 0 : x;
    case Operation::sigmoid: return 1 / (1 + std::exp(-x));
    case Operation::tanh: return std::tanh(x);
    case Operation::exp: return std::exp(x);
    case Operation::log: return std::log(x);
    case Operation::sqrt: return std::sqrt(x);
    case Operation::abs: return cases::wrapped(std::abs(x), dtype);
    case Operation::neg: break;
  }
  if (dtype == DType::u64 && x > 0) return 0x1p64 - x;
  return cases::wrapped(-x, dtype);
}

/// Roundings to the compute type's precision. exp, log and tanh are within 4; what divides may add
/// the 2.5 that Vulkan grants, and so may the root.
double roundings(Operation operation) {
  switch (operation) {
    case Operation::relu:
    case Operation::abs:
    case Operation::neg: return 0;
    case Operation::exp: return 8;
    case Operation::log:
    case Operation::tanh: return 14;
    case Operation::sigmoid: return 16;
    case Operation::sqrt: break;
  }
  return 6;
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  for (const OperationName& entry : operations) {
    KernelSuite suite;
    suite.kernel = entry.kernel;
    suite.cases = all_cases(entry);
    suite.reference = [operation = entry.operation](
                          const KernelCall& call, std::span<const TensorSpec> outputs,
                          const std::vector<std::vector<double>>& inputs) {
      std::vector<double> result(outputs[0].elements());
      std::ranges::transform(inputs[0], result.begin(),
                             [&](double x) { return apply(operation, x, call.dtype()); });
      return std::vector<std::vector<double>>{std::move(result)};
    };
    suite.bound = [operation = entry.operation](const KernelCall& call) {
      const DType dtype = call.dtype();
      const double steps = roundings(operation);
      if (steps == 0) return ErrorBound{};
      return ErrorBound{cases::subnormal(dtype),
                        steps * cases::compute_rounding(dtype) +
                            (size_of(dtype) == 2 ? cases::rounding(dtype) : 0)};
    };
    suites.push_back(std::move(suite));
  }
}

}  // namespace stoker::kernels::elementwise_unary
