#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/reduce/suites.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/window_reduce/operation.hpp"

namespace stoker::kernels::window_reduce {
namespace {

using List = std::vector<std::int64_t>;

struct Windows {
  List window;
  List strides = {};
  List low = {};
  List high = {};
  List window_dilations = {};
  List base_dilations = {};
};

/// Sums of any values; products stay in range (integers: small ones, that wrap in narrow dtypes).
Fill fill_of(Operation operation, DType dtype) {
  if (operation != Operation::product) return is_float(dtype) ? Fill{} : Fill{-100, 100};
  return is_float(dtype) ? Fill{0.9, 1.1} : Fill{-3, 3, true};
}

std::vector<KernelCase> all_cases(Operation operation) {
  std::vector<KernelCase> cases;
  const auto add = [&](std::string label, DType dtype, Shape shape, Windows w, bool heavy = false) {
    cases.push_back({.label = std::move(label),
                     .inputs = {{dtype, shape}},
                     .params = {{"window", w.window},
                                {"strides", w.strides},
                                {"padding_low", w.low},
                                {"padding_high", w.high},
                                {"window_dilations", w.window_dilations},
                                {"base_dilations", w.base_dilations}},
                     .fills = {fill_of(operation, dtype)},
                     .heavy = heavy});
  };
  for (const DType dtype : rules::numeric_dtypes()) {
    const std::string name{to_string(dtype)};
    add(name + "_pool", dtype, Shape{2, 3, 14, 18}, {{1, 1, 2, 2}, {1, 1, 2, 2}});
    add(name + "_pool_channels_last", dtype, Shape{2, 13, 17, 8},
        {{1, 3, 3, 1}, {1, 2, 2, 1}, {0, 1, 1, 0}, {0, 1, 1, 0}});
    add(name + "_row", dtype, Shape{3, 1031}, {{1, 5}, {}, {0, 3}, {0, 1}});
    add(name + "_dilated", dtype, Shape{5, 37}, {{2, 3}, {2, 3}, {1, 2}, {3, 4}, {2, 5}, {3, 2}});
  }
  const DType f32 = DType::f32;
  for (const auto& [label, shape] : cases::awkward_shapes())
    add(label, f32, shape, {List(shape.rank(), 1)});
  add("whole", f32, Shape{7, 13, 31}, {{7, 13, 31}});
  add("padding_only", f32, Shape{0, 3}, {{2, 1}, {}, {3, 0}, {2, 0}});
  add("stride_alone", f32, Shape{19, 23}, {{1, 1}, {3, 4}});
  add("padding_alone", f32, Shape{9, 11}, {{1, 1}, {}, {2, 1}, {0, 3}});
  add("three_axes", f32, Shape{6, 9, 10, 11}, {{1, 3, 2, 4}, {1, 2, 1, 3}, {0, 1, 0, 2}});
  add("first_axis", f32, Shape{40, 700}, {{7, 1}, {2, 1}});
  add("narrow_columns", f32, Shape{501, 3}, {{4, 1}, {3, 1}, {1, 0}});
  add("running_sum", f32, Shape{601}, {{601}, {}, {600}, {0}});
  add("long_row", f32, Shape{70001}, {{16}, {}, {15}, {0}});
  add("long_row_stride_2", f32, Shape{70001}, {{3}, {2}});
  add("long_row_stride_5", f32, Shape{40001}, {{7}, {5}});
  add("taps_far_apart", DType::f16, Shape{9001}, {{3}, {2}, {40}, {}, {4000}});
  add("dilated_far_apart", DType::f16, Shape{2001}, {{3}, {1500}, {4}, {9}, {700}, {6}});
  add("spread", f32, Shape{3, 50}, {{1, 4}, {1, 1}, {0, 3}, {0, 3}, {1, 1}, {1, 3}});
  add("spread_by_four", f32, Shape{3, 50}, {{1, 4}, {1, 6}, {0, 3}, {0, 3}, {1, 1}, {1, 4}});
  add("many_planes", f32, Shape{16, 16, 30, 30}, {{1, 1, 3, 3}, {1, 1, 2, 2}, {0, 0, 1, 1}});
  const auto pool = [&](std::string label, Shape shape, List window, List strides, List low,
                        List high, List dilations = {1, 1}) {
    const auto spatial = [](std::int64_t other, const List& two) {
      return List{other, other, two[0], two[1]};
    };
    const Windows windows{spatial(1, window), spatial(1, strides), spatial(0, low),
                          spatial(0, high), spatial(1, dilations)};
    for (const DType dtype : {DType::s8, DType::u8})
      add(std::string{to_string(dtype)} + "_" + label, dtype, shape, windows);
    add(std::move(label), f32, std::move(shape), windows);
  };
  pool("same_3x3", Shape{1, 5, 17, 33}, {3, 3}, {1, 1}, {1, 1}, {1, 1});
  pool("padded_3x3_stride_2", Shape{2, 8, 45, 29}, {3, 3}, {2, 2}, {1, 1}, {1, 1});
  pool("5x5_stride_3", Shape{1, 7, 38, 70}, {5, 5}, {3, 3}, {2, 0}, {1, 4});
  pool("7x6_stride_4", Shape{1, 3, 40, 91}, {7, 6}, {2, 4}, {0, 5}, {6, 2});
  pool("2x3_dilated", Shape{1, 4, 21, 26}, {2, 3}, {2, 1}, {2, 3}, {1, 2}, {3, 4});
  pool("narrow_planes", Shape{3, 9, 4, 3}, {2, 2}, {2, 2}, {0, 0}, {0, 1});
  pool("side_by_side", Shape{3, 5, 15, 75}, {2, 2}, {2, 2}, {0, 0}, {0, 0});
  pool("narrow_side_by_side", Shape{2, 7, 6, 14}, {2, 2}, {2, 2}, {0, 0}, {0, 0});
  pool("windows_of_padding", Shape{1, 2, 5, 6}, {2, 2}, {1, 1}, {4, 3}, {5, 20});
  pool("whole_planes", Shape{2, 11, 7, 7}, {7, 7}, {1, 1}, {0, 0}, {0, 0});
  pool("cropped_at_the_end", Shape{1, 3, 20, 40}, {2, 2}, {7, 7}, {0, 0}, {0, 0});
  pool("one_wide_plane", Shape{1, 1, 300, 260}, {3, 3}, {2, 2}, {1, 1}, {1, 1});
  add("three_channels_last", f32, Shape{2, 19, 23, 3},
      {{1, 3, 3, 1}, {1, 2, 1, 1}, {0, 1, 2, 0}, {0, 1, 0, 0}});
  add("channels_last_dilated", f32, Shape{1, 12, 15, 37},
      {{1, 2, 2, 1}, {1, 1, 3, 1}, {0, 1, 2, 0}, {0, 1, 0, 0}, {1, 2, 3, 1}});
  add("rows_alone", f32, Shape{5, 13, 50}, {{1, 1, 4}, {1, 1, 2}, {0, 0, 1}, {0, 0, 1}});
  add("every_other_axis", f32, Shape{2, 3, 2, 3, 2, 3, 2, 3},
      {{2, 2, 1, 2, 1, 3, 2, 2}, {1, 1, 2, 1, 1, 1, 1, 1}, {1, 0, 0, 0, 1, 0, 0, 1}});
  add("large", f32, Shape{32, 64, 112, 112}, {{1, 1, 2, 2}, {1, 1, 2, 2}}, true);
  return cases;
}

double combined(Operation operation, double a, double b, DType dtype) {
  switch (operation) {
    case Operation::sum: return cases::wrapped(a + b, dtype);
    case Operation::max: return b > a || std::isnan(b) ? b : a;
    case Operation::min: return b < a || std::isnan(b) ? b : a;
    default: return cases::wrapped(a * b, dtype);  // product
  }
}

double neutral(Operation operation, DType dtype) {
  if (operation == Operation::sum) return 0;
  if (operation == Operation::product) return 1;
  const bool least = operation == Operation::max;
  return visit_dtype(dtype, [&]<class T>() -> double {
    if constexpr (std::is_integral_v<T>)
      return static_cast<double>(least ? std::numeric_limits<T>::lowest()
                                       : std::numeric_limits<T>::max());
    else
      return least ? -HUGE_VAL : HUGE_VAL;
  });
}

/// Straight from the definition: every tap of every window, over all axes at once.
std::vector<double> reference(Operation operation, const KernelCall& call, const TensorSpec& output,
                              const std::vector<double>& input) {
  const Shape& shape = call.shape();
  const std::size_t rank = shape.rank();
  const auto numbers = [&](const char* name, std::int64_t fallback) {
    const List& list = call.params.integers(name);
    return list.empty() ? List(rank, fallback) : list;
  };
  const List window = numbers("window", 1), strides = numbers("strides", 1);
  const List dilations = numbers("window_dilations", 1), bases = numbers("base_dilations", 1);
  const List padding = numbers("padding_low", 0);
  const auto in = shape.strides(), out = output.shape.strides();
  std::int64_t taps = 1;
  for (std::size_t axis = 0; axis < rank; ++axis) taps *= window[axis];
  std::vector<double> result(output.elements(), neutral(operation, call.dtype()));
  for (std::size_t i = 0; i < result.size(); ++i)
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      std::int64_t rest = static_cast<std::int64_t>(i), rest_tap = tap, tap_stride = taps, at = 0;
      bool meets = true;
      for (std::size_t axis = 0; axis < rank && meets; ++axis) {
        tap_stride /= window[axis];
        const std::int64_t place = rest / out[axis] * strides[axis] +
                                   rest_tap / tap_stride * dilations[axis] - padding[axis];
        rest %= out[axis];
        rest_tap %= tap_stride;
        const std::int64_t base = bases[axis];
        meets = place >= 0 && place % base == 0 && place / base < shape[axis];
        at += place / base * in[axis];
      }
      if (meets)
        result[i] =
            combined(operation, result[i], input[static_cast<std::size_t>(at)], call.dtype());
    }
  return result;
}

/// Chains along the axes, one after the other, of values of magnitude up to 2.
ErrorBound bound(Operation operation, const KernelCall& call) {
  const DType dtype = call.dtype();
  if (operation == Operation::max || operation == Operation::min || !is_float(dtype)) return {};
  double taps = 1, chain = 0;
  for (const std::int64_t extent : call.params.integers("window")) {
    taps *= static_cast<double>(extent);
    chain += static_cast<double>(extent);
  }
  const double unit = cases::compute_rounding(dtype);
  // The reference itself rounds once for each tap.
  const double steps = dtype == DType::f64 ? chain + taps : chain;
  if (operation == Operation::product)
    return {cases::subnormal(dtype), cases::rounding(dtype) + 2 * (taps + 1) * unit};
  return {steps * unit * 2 * std::min(taps, 4 * std::sqrt(taps) + 16), cases::rounding(dtype)};
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  reduce::add_suites(suites, operations, {&all_cases, &reference, &bound});
}

}  // namespace stoker::kernels::window_reduce
