#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/reduce/steps.hpp"
#include "stoker/kernels/reduce/suites.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/strided_walk.hpp"

namespace stoker::kernels::reduce {
namespace {

struct NamedReduction {
  std::string label;
  Shape shape;
  std::vector<std::int64_t> axes;
  bool heavy = false;
};

std::vector<NamedReduction> reductions() {
  std::vector<NamedReduction> list = {
      {"rows", Shape{37, 128}, {1}},
      {"rows_prime", Shape{31, 127}, {-1}},
      {"rows_short", Shape{4099, 3}, {1}},
      {"rows_of_16", Shape{515, 16}, {1}},
      {"rows_long", Shape{3, 20003}, {1}},
      {"rows_cut", Shape{2, 131072}, {1}},
      {"columns", Shape{129, 64}, {0}},
      {"columns_prime", Shape{127, 61}, {0}},
      {"columns_few_rows", Shape{5, 4099}, {0}},
      {"columns_wide", Shape{300, 4228}, {0}},
      {"columns_cut", Shape{4096, 68}, {0}},
      {"columns_narrow", Shape{20011, 3}, {0}},
      {"columns_narrow_33", Shape{2003, 33}, {0}},
      {"batched_columns", Shape{5, 19, 44}, {1}},
      {"batched_narrow", Shape{7, 700, 5}, {1}},
      {"middle", Shape{6, 7, 8, 9}, {1, 2}},
      {"channels_kept", Shape{4, 6, 15, 17}, {0, 2, 3}},
      {"every_other", Shape{3, 4, 5, 6, 7}, {0, 2, 4}},
      {"rank_8", Shape{2, 3, 2, 3, 2, 3, 2, 3}, {0, 2, 5, 7}},
      {"ones", Shape{1, 5, 1}, {0, 2}},
      {"long_all", Shape{(1 << 18) + 77}, {}},
      {"many_rows", Shape{1 << 20, 17}, {1}, true},
      {"large", Shape{4096, 2048}, {}, true},
  };
  for (const auto& [label, shape] : cases::awkward_shapes())
    if (!shape.empty()) list.push_back({label, shape, {}});
  return list;
}

bool chooses_a_path(const std::string& label) {
  return label == "rows_prime" || label == "rows_short" || label == "rows_cut" ||
         label == "columns_cut" || label == "columns_narrow" || label == "channels_kept";
}

/// Values whose result says something: products stay near 1 (integers: odd, so that wrapping never
/// leaves zero), truths are mixed where the dtype has zeros among them.
Fill fill_of(Operation operation, DType dtype) {
  switch (operation) {
    case Operation::product:
      if (is_float(dtype)) return {0.98, 1.02};
      return dtype == DType::boolean ? Fill{0.4, 1}
             : is_signed(dtype)      ? Fill{-1.4, 1.4, true}
                                     : Fill{3, 3};
    case Operation::all: return is_float(dtype) ? Fill{} : Fill{-80, 80};
    case Operation::any: return is_float(dtype) ? Fill{0, 0} : Fill{-0.503, 0.503};
    default: return is_float(dtype) ? Fill{} : Fill{-100, 100};
  }
}

/// Holds every 64-bit integer, and long products of f64 closely.
using Wide = long double;

/// a · b as `dtype` holds it; 64-bit products wrap too.
Wide product(Wide a, Wide b, DType dtype) {
  if (!is_integer(dtype)) return a * b;
  if (size_of(dtype) <= 4) return cases::wrapped(static_cast<double>(a * b), dtype);
  const auto bits = [](Wide v) {
    return v < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(-v)
                 : static_cast<std::uint64_t>(v);
  };
  const std::uint64_t wrapped = bits(a) * bits(b);
  return is_signed(dtype) ? static_cast<Wide>(static_cast<std::int64_t>(wrapped))
                          : static_cast<Wide>(wrapped);
}

std::vector<KernelCase> all_cases(Operation operation) {
  const bool extremum = operation == Operation::max || operation == Operation::min;
  std::vector<KernelCase> cases;
  for (const DType dtype : extremum ? rules::numeric_dtypes() : rules::all_dtypes())
    for (const NamedReduction& r : reductions())
      if (dtype == DType::f32 || chooses_a_path(r.label))
        cases.push_back({.label = std::string{to_string(dtype)} + "_" + r.label,
                         .inputs = {{dtype, r.shape}},
                         .params = {{"axes", r.axes}},
                         .fills = {fill_of(operation, dtype)},
                         .heavy = r.heavy});
  cases.push_back({.label = "keepdims",
                   .inputs = {{DType::f32, Shape{3, 4, 5}}},
                   .params = {{"axes", {1}}, {"keepdims", true}}});
  cases.push_back(
      {.label = "empty_result", .inputs = {{DType::f32, Shape{0, 3}}}, .params = {{"axes", {1}}}});
  if (!extremum) {
    cases.push_back(
        {.label = "over_none", .inputs = {{DType::f32, Shape{5, 0}}}, .params = {{"axes", {1}}}});
    cases.push_back({.label = "all_of_none", .inputs = {{DType::s32, Shape{0, 3}}}});
    cases.push_back({.label = "over_none_between",
                     .inputs = {{DType::f32, Shape{0, 3, 5}}},
                     .params = {{"axes", {0, 2}}}});
  }
  if (operation == Operation::sum)
    cases.push_back(
        {.label = "wraps", .inputs = {{DType::s32, Shape{900}}}, .fills = {{1e9, 2e9}}});
  else
    cases::leave_to_sibling(cases);
  return cases;
}

std::vector<double> reference(Operation operation, const KernelCall& call, const TensorSpec& output,
                              const std::vector<double>& input) {
  const std::vector<bool> reduced = reduced_axes("reference", call).value();
  const Shape& shape = call.shape();
  // Strides in the output, 0 along reduced axes.
  std::vector<std::int64_t> strides(shape.rank());
  std::int64_t stride = 1;
  for (std::size_t axis = shape.rank(); axis-- > 0;)
    if (!reduced[axis]) {
      strides[axis] = stride;
      stride *= shape[axis];
    }
  const auto start_of = [&]() -> double {
    if (operation == Operation::max) return -HUGE_VAL;
    if (operation == Operation::min) return HUGE_VAL;
    return operation == Operation::product || operation == Operation::all ? 1 : 0;
  };
  const auto combined = [&](Wide into, Wide value) -> Wide {
    switch (operation) {
      case Operation::max: return value > into || std::isnan(value) ? value : into;
      case Operation::min: return value < into || std::isnan(value) ? value : into;
      case Operation::product: return product(into, value, output.dtype);
      case Operation::all: return into != 0 && value != 0 ? 1 : 0;
      case Operation::any: return into != 0 || value != 0 ? 1 : 0;
      default: return into + value;
    }
  };
  std::vector<Wide> wide(output.elements(), start_of());
  const Strides dense = shape.strides();
  for (std::size_t i = 0; i < input.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      at += rest / dense[axis] * strides[axis];
      rest %= dense[axis];
    }
    Wide& into = wide[static_cast<std::size_t>(at)];
    into = combined(into, input[i]);
  }
  std::vector<double> result(wide.begin(), wide.end());
  for (double& value : result) {
    if (operation == Operation::mean) value /= static_cast<double>(steps(shape, reduced).count);
    if (operation == Operation::sum) value = cases::wrapped(value, output.dtype);
  }
  return result;
}

/// Sums and means: the worst case of 64 chained additions and a tree above them, of values of
/// magnitude up to 2 (floats) or 128 (integers, averaged in f32); then one rounding to the dtype.
ErrorBound bound(Operation operation, const KernelCall& call) {
  const DType dtype = call.dtype();
  if (operation == Operation::max || operation == Operation::min) return {};
  if (operation != Operation::mean && !is_float(dtype)) return {};
  if (operation == Operation::all || operation == Operation::any) return {};
  const std::vector<bool> reduced = reduced_axes("bound", call).value();
  const auto count =
      static_cast<double>(std::max<std::int64_t>(steps(call.shape(), reduced).count, 1));
  const double unit =
      is_float(dtype) ? cases::compute_rounding(dtype) : cases::rounding(DType::f32);
  const double magnitude = is_float(dtype) ? 2 : 128;
  // Every multiplication of a product, in whatever order, rounds the result once.
  if (operation == Operation::product)
    return {cases::subnormal(dtype),
            cases::rounding(dtype) + std::min(count, 16 * std::sqrt(count)) * unit};
  const double chain = std::min(count, 64 + std::log2(count));
  const double absolute = chain * unit * magnitude * (operation == Operation::mean ? 1 : count);
  return {absolute, cases::rounding(result_dtype(operation, dtype)) + 4 * unit};
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  add_suites(suites, operations, {&all_cases, &reference, &bound});
}

}  // namespace stoker::kernels::reduce
