#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/conv/plain_sums.hpp"
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
  bool blocked = false;
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
      {.label = "blocked_row", .x = {1, 16, 37}, .k = {2, 1, 3, 4, 16, 4}, .blocked = true},
      {.label = "blocked",
       .x = {2, 32, 6, 7},
       .k = {1, 2, 3, 2, 4, 16, 4},
       .low = {1, 0},
       .blocked = true},
      {.label = "large_blocked",
       .x = {2, 32, 15, 14},
       .k = {3, 2, 3, 3, 4, 16, 4},
       .strides = {2, 1},
       .low = {1, 1},
       .high = {1, 1},
       .blocked = true},
      {.label = "blocked_pointwise",
       .x = {1, 64, 12, 13},
       .k = {4, 4, 1, 1, 4, 16, 4},
       .blocked = true},
      {.label = "blocked_volume",
       .x = {2, 16, 5, 6, 7},
       .k = {2, 1, 2, 3, 2, 4, 16, 4},
       .blocked = true},
      {.label = "extreme_blocked",
       .x = {1, 80, 9, 10},
       .k = {2, 5, 3, 3, 4, 16, 4},
       .low = {1, 1},
       .blocked = true,
       .extreme = true},
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
                       {"feature_groups", s.groups},
                       {"kernel_blocked", s.blocked}}};
        // None, one for x, and one or one for each output for k, in turns.
        const std::size_t zeros = (at + at / setups().size()) % 4;
        ++at;
        if (zeros > 0) one.inputs.push_back({x, Shape{}});
        if (zeros > 1)
          one.inputs.push_back(
              {k, zeros == 2 ? Shape{1} : Shape{s.k[0] * (s.blocked ? kernel_block : 1)}});
        for (const TensorSpec& input : one.inputs) {
          const double most = input.dtype == DType::s8 ? 127 : 255;
          const bool near = s.extreme && one.fills.size() < 2;
          one.fills.push_back({near ? most - 2 : most - 255, most});
        }
        cases.push_back(std::move(one));
      }
  return cases;
}

/// Of a blocked kernel [outputs / 16, channels / 16, taps, 4, 16, 4], the plain one.
std::vector<double> without_blocks(const std::vector<double>& blocked, const Shape& shape) {
  const std::int64_t outputs = shape[0], channels = shape[1];
  const std::int64_t taps = shape.elements() / (outputs * channels);
  std::vector<double> plain(blocked.size());
  auto from = blocked.begin();
  for (std::int64_t o = 0; o < outputs; o += 16)
    for (std::int64_t c = 0; c < channels; c += 16)
      for (std::int64_t t = 0; t < taps; ++t)
        for (std::int64_t four = 0; four < 16; four += 4)
          for (std::int64_t i = 0; i < 16; ++i)
            for (std::int64_t j = 0; j < 4; ++j)
              plain[static_cast<std::size_t>(((o + i) * channels + c + four + j) * taps + t)] =
                  *from++;
  return plain;
}

/// As conv computes it, of what is left when zero points are subtracted: so padding with them adds nothing.
std::vector<std::vector<double>> reference(const KernelCall& call,
                                           std::span<const TensorSpec> outputs,
                                           const std::vector<std::vector<double>>& inputs) {
  const auto given = options::from<IntegerConv>(call.params);
  const Shape k_shape = kernel_shape(call).value();
  std::vector<double> x = inputs[0], k = inputs[1];
  if (given.kernel_blocked) k = without_blocks(k, k_shape);
  if (inputs.size() > 2)
    for (double& value : x) value -= inputs[2][0];
  if (inputs.size() > 3) {
    const std::vector<double>& zeros = inputs[3];
    const std::size_t terms = k.size() / std::max<std::size_t>(zeros.size(), 1);
    for (std::size_t i = 0; i < k.size(); ++i) k[i] -= zeros[i / terms];
  }
  std::vector<double> sums = conv::plain_sums(
      as_conv(given),
      {.x_shape = call.shape(), .k_shape = k_shape, .y_shape = outputs[0].shape, .x = x, .k = k});
  for (double& sum : sums) sum = cases::wrapped(sum, DType::s32);
  return {std::move(sums)};
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
