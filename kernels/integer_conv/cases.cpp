#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/integer_conv/problem.hpp"

namespace stoker::kernels::integer_conv {
namespace {

using List = std::vector<std::int64_t>;

struct Setup {
  std::string label;
  Shape x;
  Shape k;
  List strides = {}, low = {}, high = {}, dilation = {};
  std::int64_t groups = 1;
  bool extreme = false;  ///< numbers near one end: sums that f32 cannot hold
};

// Those of 32768 multiply-adds and more run by oneDNN on the CPU where it is exact.
std::vector<Setup> setups() {
  return {
      {.label = "one", .x = {1, 1, 1}, .k = {1, 1, 1}},
      {.label = "row", .x = {2, 3, 37}, .k = {5, 3, 4}, .low = {2}, .high = {1}},
      {.label = "image", .x = {2, 3, 13, 17}, .k = {20, 3, 3, 3}, .low = {1, 1}, .high = {1, 1}},
      {.label = "small_image", .x = {2, 3, 5, 4}, .k = {2, 3, 3, 3}, .low = {1, 1}, .high = {1, 1}},
      {.label = "everything_at_once",
       .x = {2, 6, 9, 11},
       .k = {8, 3, 3, 2},
       .strides = {2, 3},
       .low = {3, -1},
       .high = {-2, 4},
       .dilation = {3, 2},
       .groups = 2},
      {.label = "cropped", .x = {1, 2, 9, 9}, .k = {17, 2, 3, 3}, .low = {-2, -3}, .high = {-1, 0}},
      {.label = "padding_beyond",
       .x = {1, 2, 2, 3},
       .k = {4, 2, 3, 3},
       .low = {5, 4},
       .high = {4, 7}},
      {.label = "volume",
       .x = {2, 3, 5, 6, 7},
       .k = {18, 3, 2, 3, 2},
       .strides = {1, 2, 1},
       .low = {1, 0, 1},
       .high = {0, 0, 0}},
      {.label = "small_volume", .x = {1, 2, 3, 4, 3}, .k = {3, 2, 2, 2, 2}, .high = {1, 0, 1}},
      {.label = "pointwise", .x = {3, 72, 12, 13}, .k = {50, 72, 1, 1}},
      {.label = "pointwise_strided", .x = {1, 40, 13, 12}, .k = {33, 40, 1, 1}, .strides = {2, 2}},
      {.label = "depthwise",
       .x = {2, 19, 14, 15},
       .k = {38, 1, 3, 3},
       .low = {1, 1},
       .high = {0, 0},
       .groups = 19},
      {.label = "depthwise_16",
       .x = {1, 32, 14, 15},
       .k = {32, 1, 3, 3},
       .low = {1, 1},
       .high = {1, 1},
       .groups = 32},
      {.label = "groups",
       .x = {2, 64, 15, 14},
       .k = {64, 16, 3, 3},
       .low = {1, 1},
       .high = {1, 1},
       .groups = 4},
      {.label = "many_jobs",
       .x = {1, 64, 23, 22},
       .k = {72, 64, 3, 3},
       .low = {1, 1},
       .high = {1, 1}},
      {.label = "extreme", .x = {2, 65, 9, 14}, .k = {28, 65, 3, 4}, .extreme = true},
      {.label = "extreme_volume", .x = {2, 103, 4, 7, 6}, .k = {2, 103, 2, 2, 2}, .extreme = true},
      {.label = "long_row", .x = {1, 32, 900}, .k = {48, 32, 5}, .low = {2}, .high = {2}},
      {.label = "no_batch", .x = {0, 2, 5}, .k = {3, 2, 2}},
      {.label = "no_channels", .x = {2, 0, 5}, .k = {3, 0, 2}},
      {.label = "no_outputs", .x = {2, 2, 5}, .k = {0, 2, 2}},
      {.label = "no_entries", .x = {2, 2, 0, 4}, .k = {3, 2, 2, 2}, .low = {2, 0}, .high = {1, 0}},
  };
}

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  std::size_t at = 0;
  for (const DType x : {DType::s8, DType::u8})
    for (const DType k : {DType::s8, DType::u8})
      for (const Setup& s : setups()) {
        KernelCase one{
            .label = std::string{to_string(x)} + "_" + std::string{to_string(k)} + "_" + s.label,
            .inputs = {{x, s.x}, {k, s.k}},
            .params = {{"strides", s.strides},
                       {"padding_low", s.low},
                       {"padding_high", s.high},
                       {"kernel_dilation", s.dilation},
                       {"feature_groups", s.groups}}};
        // None, one for x, and one or one for each output for k, in turns.
        const std::size_t zeros = (at + at / setups().size()) % 4;
        ++at;
        if (zeros > 0) one.inputs.push_back({x, Shape{}});
        if (zeros > 1) one.inputs.push_back({k, zeros == 2 ? Shape{1} : Shape{s.k[0]}});
        for (const TensorSpec& input : one.inputs) {
          const double most = input.dtype == DType::s8 ? 127 : 255;
          const bool near = s.extreme && one.fills.size() < 2;
          one.fills.push_back({near ? most - 2 : most - 255, most});
        }
        cases.push_back(std::move(one));
      }
  return cases;
}

/// Counts through the spatial `extents`, the last fastest; false after the end.
bool next(List& at, const Shape& extents) {
  for (std::size_t axis = at.size(); axis-- > 0;) {
    if (++at[axis] < extents[axis + 2]) return true;
    at[axis] = 0;
  }
  return false;
}

/// Straight from the definition.
std::vector<std::vector<double>> reference(const KernelCall& call,
                                           std::span<const TensorSpec> outputs,
                                           const std::vector<std::vector<double>>& inputs) {
  const Shape &x = call.shape(), &k = call.shape(1), &y = outputs[0].shape;
  const auto x_steps = x.strides(), k_steps = k.strides();
  const std::size_t spatial = x.rank() - 2;
  const auto numbers = [&](const char* name, std::int64_t fallback) {
    const List& list = call.params.integers(name);
    return list.empty() ? List(spatial, fallback) : list;
  };
  const List strides = numbers("strides", 1), dilation = numbers("kernel_dilation", 1);
  const List low = numbers("padding_low", 0);
  const std::int64_t groups = call.params.integer("feature_groups");
  std::vector<double> result(outputs[0].elements());
  if (result.empty() || k.elements() == 0) return {result};
  std::size_t to = 0;
  for (std::int64_t n = 0; n < y[0]; ++n)
    for (std::int64_t o = 0; o < y[1]; ++o) {
      const std::int64_t channel = o / (y[1] / groups) * k[1];
      const double x_zero = inputs.size() > 2 ? inputs[2][0] : 0;
      const double k_zero = inputs.size() > 3
                                ? inputs[3][inputs[3].size() == 1 ? 0 : static_cast<std::size_t>(o)]
                                : 0;
      List i(spatial);
      do {
        double sum = 0;
        List t(spatial);
        do {
          std::int64_t from = n * x_steps[0], at = o * k_steps[0];
          bool met = true;
          for (std::size_t axis = 0; axis < spatial; ++axis) {
            const std::int64_t place =
                i[axis] * strides[axis] + t[axis] * dilation[axis] - low[axis];
            met = met && place >= 0 && place < x[axis + 2];
            from += place * x_steps[axis + 2];
            at += t[axis] * k_steps[axis + 2];
          }
          for (std::int64_t c = 0; met && c < k[1]; ++c)
            sum +=
                (inputs[0][static_cast<std::size_t>(from + (channel + c) * x_steps[1])] - x_zero) *
                (inputs[1][static_cast<std::size_t>(at + c * k_steps[1])] - k_zero);
        } while (next(t, k));
        result[to++] = cases::wrapped(sum, DType::s32);
      } while (next(i, y));
    }
  return {std::move(result)};
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "integer_conv";
  suite.cases = all_cases();
  suite.reference = reference;
  suite.bound = [](const KernelCall&) { return ErrorBound{}; };
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::integer_conv
