#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/elementwise_binary/operation.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/strided_walk.hpp"

namespace stoker::kernels::elementwise_binary {
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

std::vector<KernelCase> all_cases(Operation operation) {
  const Fill divisor{.avoid_zero = true};
  std::vector<KernelCase> cases;
  for (const DType dtype : rules::numeric_dtypes()) {
    const std::string name{to_string(dtype)};
    // Every shape in f32, and the ones that choose a different path in the other dtypes.
    for (const NamedPair& pair : pairs())
      if (dtype == DType::f32 ||
          (!pair.heavy && (pair.label == "primes" || pair.label == "bias_row" ||
                           pair.label == "column_prime" || pair.label == "scalar_left")))
        cases.push_back({.label = name + "_" + pair.label,
                         .inputs = {{dtype, pair.lhs}, {dtype, pair.rhs}},
                         .fills = operation == Operation::div ? std::vector{Fill{}, divisor}
                                                              : std::vector{Fill{}},
                         .heavy = pair.heavy});
    // Wraps in the narrow dtypes; also divides by 0.
    if (is_integer(dtype))
      cases.push_back({.label = name + "_wide_values",
                       .inputs = {{dtype, Shape{37, 29}}, {dtype, Shape{37, 29}}},
                       .fills = {{-30000, 30000}, {-300, 300}}});
    if (is_integer(dtype))
      cases.push_back({.label = name + "_zero_divisors",
                       .inputs = {{dtype, Shape{37, 29}}, {dtype, Shape{29}}},
                       .fills = {{-120, 120}, {-2, 2}}});
  }
  return cases;
}

double apply(Operation operation, double a, double b, DType dtype) {
  switch (operation) {
    case Operation::add: return cases::wrapped(a + b, dtype);
    case Operation::sub: {
      // Unsigned 64-bit differences below 0 wrap to what a double holds as 2^64 - k.
      const double difference = a - b;
      return dtype == DType::u64 && difference < 0 ? difference + 0x1p64
                                                   : cases::wrapped(difference, dtype);
    }
    case Operation::mul: return cases::wrapped(a * b, dtype);
    case Operation::div: break;
  }
  if (!is_integer(dtype)) return a / b;
  return b == 0 ? 0 : cases::wrapped(std::trunc(a / b), dtype);
}

std::vector<std::vector<double>> reference(Operation operation, const KernelCall& call,
                                           std::span<const TensorSpec> outputs,
                                           const std::vector<std::vector<double>>& inputs) {
  const Shape& shape = outputs[0].shape;
  const Strides lhs = broadcast_strides(call.shape(0), shape);
  const Strides rhs = broadcast_strides(call.shape(1), shape);
  const Strides dense = shape.strides();
  std::vector<double> result(outputs[0].elements());
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), at_lhs = 0, at_rhs = 0;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      const std::int64_t coordinate = rest / dense[axis];
      rest %= dense[axis];
      at_lhs += coordinate * lhs[axis];
      at_rhs += coordinate * rhs[axis];
    }
    result[i] = apply(operation, inputs[0][static_cast<std::size_t>(at_lhs)],
                      inputs[1][static_cast<std::size_t>(at_rhs)], call.dtype());
  }
  return {std::move(result)};
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  for (const OperationName& entry : operations) {
    KernelSuite suite;
    suite.kernel = entry.kernel;
    suite.cases = all_cases(entry.operation);
    suite.reference = [operation = entry.operation](
                          const KernelCall& call, std::span<const TensorSpec> outputs,
                          const std::vector<std::vector<double>>& inputs) {
      return reference(operation, call, outputs, inputs);
    };
    // One rounding. Vulkan grants f32 division 2.5 units in the last place; the 16-bit floats round
    // once more, to their own precision.
    suite.bound = [operation = entry.operation](const KernelCall& call) {
      const DType dtype = call.dtype();
      const double steps = operation == Operation::div ? 5 : 1;
      return ErrorBound{cases::subnormal(dtype),
                        cases::rounding(dtype) + steps * cases::compute_rounding(dtype)};
    };
    suites.push_back(std::move(suite));
  }
}

}  // namespace stoker::kernels::elementwise_binary
