#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/layer_norm/rows.hpp"

namespace stoker::kernels::layer_norm {
namespace {

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  const auto add = [&](std::string label, DType dtype, Shape shape, std::int64_t axis,
                       std::size_t inputs, Fill fill = {}, bool heavy = false) {
    KernelCase entry{.label = std::move(label),
                     .inputs = {{dtype, shape}},
                     .params = {{"axis", axis}},
                     .fills = {fill, {0.5, 2}, {-1, 1}},
                     .heavy = heavy};
    Shape normalized;
    const std::int64_t rank = static_cast<std::int64_t>(shape.rank());
    for (std::int64_t i = axis < 0 ? axis + rank : axis; i < rank; ++i)
      normalized = normalized.appended(shape[static_cast<std::size_t>(i)]);
    for (std::size_t i = 1; i < inputs; ++i) entry.inputs.push_back({dtype, normalized});
    cases.push_back(std::move(entry));
  };
  for (const DType dtype : rules::float_dtypes()) {
    const std::string name{to_string(dtype)};
    add(name + "_rows", dtype, Shape{37, 128}, -1, 3);
    add(name + "_rows_prime", dtype, Shape{31, 127}, 1, 3);
    add(name + "_gamma_only", dtype, Shape{31, 60}, 1, 2);
    add(name + "_plain", dtype, Shape{13, 5}, 1, 1);
    add(name + "_long_rows", dtype, Shape{3, 4100}, 1, 3);
  }
  for (const auto& [label, shape] : cases::awkward_shapes())
    if (shape.rank() > 0) add(label, DType::f32, shape, -1, 3);
  add("two_axes", DType::f32, Shape{5, 7, 11}, -2, 3);
  add("all_axes", DType::f32, Shape{3, 4, 5}, 0, 3);
  add("offset", DType::f32, Shape{17, 300}, 1, 1, {999, 1001});
  add("very_long_row", DType::f32, Shape{2, 65537}, 1, 3);
  add("very_long_row_wide", DType::f32, Shape{2, 65536}, 1, 2);
  add("many_rows", DType::f32, Shape{1 << 20, 20}, 1, 3, {}, true);
  cases.push_back({.label = "scalar", .inputs = {{DType::f32, Shape{}}}});
  cases.push_back(
      {.label = "epsilon", .inputs = {{DType::f32, Shape{9, 33}}}, .params = {{"epsilon", 0.5}}});
  return cases;
}

std::vector<double> reference(const KernelCall& call,
                              const std::vector<std::vector<double>>& inputs) {
  const Rows rows = rows_of(call, options::from<LayerNorm>(call.params)).value();
  const std::vector<double>& x = inputs[0];
  const auto length = static_cast<std::size_t>(rows.length);
  std::vector<double> y(x.size());
  for (std::size_t first = 0; first < x.size(); first += length) {
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < length; ++i) mean += x[first + i] / static_cast<double>(length);
    for (std::size_t i = 0; i < length; ++i)
      variance += (x[first + i] - mean) * (x[first + i] - mean) / static_cast<double>(length);
    const double scale = 1 / std::sqrt(variance + call.params.real("epsilon"));
    for (std::size_t i = 0; i < length; ++i) {
      y[first + i] = (x[first + i] - mean) * scale;
      if (inputs.size() > 1) y[first + i] *= inputs[1][i];
      if (inputs.size() > 2) y[first + i] += inputs[2][i];
    }
  }
  return y;
}

/// The mean is off by at most chain · unit · |x|, and every result by that over the deviation, which
/// is about 0.6 for the ranges above (a row may by chance be narrower) or 1 / √epsilon at most.
ErrorBound bound(const KernelCall& call) {
  const DType dtype = call.dtype();
  const Rows rows = rows_of(call, options::from<LayerNorm>(call.params)).value();
  const double unit = cases::compute_rounding(dtype);
  const double narrow = size_of(dtype) == 2 ? cases::rounding(dtype) : 0;
  const double chain = std::min(static_cast<double>(rows.length), 64.0) + 16;
  // Rows of a few elements may be as narrow as chance has it.
  const double magnitude = rows.length < 16 ? 400 : rows.length == 300 ? 1000 : 8;
  return {chain * unit * magnitude + 4 * narrow, 16 * unit + narrow};
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "layer_norm";
  suite.cases = all_cases();
  suite.reference = [](const KernelCall& call, std::span<const TensorSpec>,
                       const std::vector<std::vector<double>>& inputs) {
    return std::vector<std::vector<double>>{reference(call, inputs)};
  };
  suite.bound = bound;
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::layer_norm
