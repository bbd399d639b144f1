#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/window_scatter/scatter.hpp"

namespace stoker::kernels::window_scatter {
namespace {

using List = std::vector<std::int64_t>;
using window_reduce::WindowAxis;

struct Windows {
  List window;
  List strides = {};
  List low = {};
  List high = {};
};

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  const auto add = [&](std::string label, DType dtype, Shape shape, Windows w, bool heavy = false) {
    const auto axes =
        window_reduce::window_axes("cases", shape, {w.window, w.strides, w.low, w.high}).value();
    const Shape source = window_reduce::windows_shape("cases", axes).value();
    cases.push_back({.label = std::move(label),
                     .inputs = {{dtype, shape}, {dtype, source}, {dtype, Shape{}}},
                     .params = {{"window", w.window},
                                {"strides", w.strides},
                                {"padding_low", w.low},
                                {"padding_high", w.high}},
                     .fills = {is_float(dtype) ? Fill{} : Fill{-20, 20}},
                     .heavy = heavy});
  };
  for (const DType dtype : rules::numeric_dtypes()) {
    const std::string name{to_string(dtype)};
    add(name + "_pool", dtype, Shape{2, 3, 14, 18}, {{1, 1, 2, 2}, {1, 1, 2, 2}});
    add(name + "_overlaps", dtype, Shape{2, 13, 17, 8},
        {{1, 3, 3, 1}, {1, 2, 2, 1}, {0, 1, 1, 0}, {0, 1, 1, 0}});
    add(name + "_pool_channels_last", dtype, Shape{2, 15, 19, 8}, {{1, 2, 3, 1}, {1, 2, 3, 1}});
    add(name + "_row", dtype, Shape{3, 1031}, {{1, 5}, {}, {0, 3}, {0, 1}});
  }
  const DType f32 = DType::f32;
  for (const auto& [label, shape] : cases::awkward_shapes())
    add(label, f32, shape, {List(shape.rank(), 1)});
  add("whole", f32, Shape{7, 13, 31}, {{7, 13, 31}});
  add("stride_leaves_gaps", f32, Shape{19, 23}, {{1, 2}, {3, 4}});
  add("windows_of_padding", f32, Shape{9, 11}, {{2, 2}, {}, {4, 3}, {0, 3}});
  add("three_axes", f32, Shape{6, 9, 10, 11}, {{1, 3, 2, 4}, {1, 2, 1, 3}, {0, 1, 0, 2}});
  add("windows_apart", f32, Shape{3, 20, 700}, {{1, 2, 1}, {1, 3, 2}});
  add("windows_of_three", f32, Shape{5, 12, 803}, {{1, 3, 3}, {1, 3, 3}});
  add("first_axis", f32, Shape{40, 700}, {{7, 1}, {2, 1}});
  add("many_planes", f32, Shape{16, 16, 30, 30}, {{1, 1, 3, 3}, {1, 1, 2, 2}, {0, 0, 1, 1}});
  add("every_other_axis", f32, Shape{2, 3, 2, 3, 2, 3, 2, 3}, {{1, 1, 1, 2, 1, 3, 2, 2}});
  add("large", f32, Shape{32, 64, 112, 112}, {{1, 1, 2, 2}, {1, 1, 2, 2}}, true);
  return cases;
}

/// Window by window, adding where the extreme is.
std::vector<double> reference(bool smallest, const KernelCall& call,
                              const std::vector<std::vector<double>>& inputs) {
  const auto axes = windowed_axes("reference", call).value();
  const auto in = call.shape().strides(), out = call.shape(1).strides();
  std::int64_t taps = 1;
  for (const WindowAxis& axis : axes) taps *= axis.window;
  std::vector<double> result(inputs[0].size(), inputs[2][0]);
  for (std::size_t w = 0; w < inputs[1].size(); ++w) {
    std::size_t best = inputs[0].size();
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      std::int64_t rest = static_cast<std::int64_t>(w), rest_tap = tap, tap_stride = taps, at = 0;
      bool inside = true;
      for (std::size_t axis = 0; axis < axes.size() && inside; ++axis) {
        tap_stride /= axes[axis].window;
        const std::int64_t place =
            rest / out[axis] * axes[axis].stride + rest_tap / tap_stride - axes[axis].low;
        rest %= out[axis];
        rest_tap %= tap_stride;
        inside = place >= 0 && place < axes[axis].in;
        at += place * in[axis];
      }
      if (!inside) continue;
      const auto here = static_cast<std::size_t>(at);
      if (best == inputs[0].size()) {
        best = here;
        continue;
      }
      const double v = inputs[0][here], held = inputs[0][best];
      if (!std::isnan(held) && (std::isnan(v) || (smallest ? v < held : v > held))) best = here;
    }
    if (best < result.size())
      result[best] = cases::wrapped(result[best] + inputs[1][w], call.dtype());
  }
  return result;
}

/// As many additions as windows lie over one element, of values of magnitude up to 2.
ErrorBound bound(const KernelCall& call) {
  const DType dtype = call.dtype();
  if (!is_float(dtype)) return {};
  double most = 1;
  for (const WindowAxis& axis : windowed_axes("bound", call).value())
    most *= static_cast<double>((axis.window + axis.stride - 1) / axis.stride);
  return {4 * most * (most + 1) * cases::compute_rounding(dtype), cases::rounding(dtype)};
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  for (const bool smallest : {false, true}) {
    KernelSuite suite;
    suite.kernel = smallest ? "window_scatter_min" : "window_scatter_max";
    suite.cases = all_cases();
    suite.reference = [smallest](const KernelCall& call, std::span<const TensorSpec>,
                                 const std::vector<std::vector<double>>& inputs) {
      return std::vector<std::vector<double>>{reference(smallest, call, inputs)};
    };
    suite.bound = bound;
    suites.push_back(std::move(suite));
  }
}

}  // namespace stoker::kernels::window_scatter
