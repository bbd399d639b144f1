#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/conv2d/problem.hpp"

namespace stoker::kernels::conv2d {
namespace {

using List = std::vector<std::int64_t>;

struct Setup {
  std::string label;
  Shape x;
  Shape w;
  List stride = {1, 1};
  List padding = {0, 0, 0, 0};
  List dilation = {1, 1};
  std::int64_t groups = 1;
  bool bias = false;
  bool every_dtype = false;
  bool heavy = false;
};

std::vector<Setup> setups() {
  return {
      {.label = "one", .x = {1, 1, 1, 1}, .w = {1, 1, 1, 1}},
      {.label = "three_by_three",
       .x = {2, 3, 13, 17},
       .w = {5, 3, 3, 3},
       .padding = {1, 1},
       .bias = true,
       .every_dtype = true},
      {.label = "no_padding", .x = {1, 2, 7, 7}, .w = {3, 2, 3, 3}},
      {.label = "many_outputs",
       .x = {2, 7, 9, 11},
       .w = {37, 7, 3, 3},
       .padding = {1},
       .bias = true,
       .every_dtype = true},
      {.label = "fills_tiles",
       .x = {2, 16, 16, 16},
       .w = {64, 16, 3, 3},
       .padding = {1, 1, 1, 1},
       .every_dtype = true},
      {.label = "stride_two",
       .x = {2, 3, 30, 31},
       .w = {18, 3, 7, 7},
       .stride = {2, 2},
       .padding = {3, 3},
       .bias = true},
      {.label = "strides_differ",
       .x = {1, 4, 23, 29},
       .w = {17, 4, 3, 5},
       .stride = {3, 2},
       .padding = {1, 2, 0, 4}},
      {.label = "stride_beyond_kernel", .x = {1, 4, 23, 29}, .w = {17, 4, 2, 1}, .stride = {5, 4}},
      {.label = "uneven_padding", .x = {1, 3, 8, 9}, .w = {19, 3, 3, 3}, .padding = {0, 2, 3, 1}},
      {.label = "padding_beyond_input", .x = {1, 2, 2, 3}, .w = {4, 2, 3, 3}, .padding = {4, 5}},
      {.label = "input_without_pixels",
       .x = {1, 2, 0, 0},
       .w = {4, 2, 3, 3},
       .padding = {2, 2},
       .bias = true},
      {.label = "dilation",
       .x = {1, 3, 20, 21},
       .w = {20, 3, 3, 3},
       .padding = {2, 3},
       .dilation = {2, 3},
       .every_dtype = true},
      {.label = "dilation_and_stride",
       .x = {1, 3, 25, 27},
       .w = {20, 3, 3, 3},
       .stride = {2, 3},
       .dilation = {3, 2}},
      {.label = "taps_far_apart",
       .x = {2, 2, 3, 4},
       .w = {5, 2, 2, 2},
       .padding = {500'000, 700'000, 0, 0},
       .dilation = {500'000, 700'000},
       .bias = true,
       .every_dtype = true},
      {.label = "wide_kernel", .x = {1, 2, 5, 40}, .w = {6, 2, 1, 15}, .padding = {0, 7}},
      {.label = "kernel_as_large_as_input", .x = {3, 4, 5, 6}, .w = {33, 4, 5, 6}},
      {.label = "pointwise",
       .x = {3, 24, 6, 7},
       .w = {40, 24, 1, 1},
       .bias = true,
       .every_dtype = true},
      {.label = "pointwise_fours", .x = {2, 24, 8, 8}, .w = {48, 24, 1, 1}},
      {.label = "pointwise_prime", .x = {2, 13, 7, 7}, .w = {31, 13, 1, 1}},
      {.label = "pointwise_large", .x = {3, 72, 12, 13}, .w = {100, 72, 1, 1}, .bias = true},
      {.label = "pointwise_large_groups",
       .x = {1, 144, 12, 12},
       .w = {100, 72, 1, 1},
       .groups = 2,
       .bias = true},
      {.label = "pointwise_stride", .x = {2, 13, 9, 9}, .w = {31, 13, 1, 1}, .stride = {2, 2}},
      {.label = "pointwise_padding", .x = {1, 5, 6, 6}, .w = {20, 5, 1, 1}, .padding = {1, 1}},
      {.label = "groups",
       .x = {2, 12, 9, 10},
       .w = {54, 4, 3, 3},
       .padding = {1, 1},
       .groups = 3,
       .bias = true,
       .every_dtype = true},
      {.label = "small_groups",
       .x = {2, 12, 9, 10},
       .w = {18, 4, 3, 3},
       .padding = {1, 1},
       .groups = 3},
      {.label = "pointwise_groups", .x = {2, 12, 6, 6}, .w = {34, 6, 1, 1}, .groups = 2},
      {.label = "depthwise",
       .x = {2, 19, 14, 15},
       .w = {19, 1, 3, 3},
       .padding = {1, 1},
       .groups = 19,
       .bias = true,
       .every_dtype = true},
      {.label = "depthwise_stride",
       .x = {1, 8, 16, 16},
       .w = {16, 1, 5, 5},
       .stride = {2, 2},
       .padding = {2, 2},
       .groups = 8},
      {.label = "large_depthwise",
       .x = {3, 32, 30, 29},
       .w = {32, 1, 3, 3},
       .padding = {1, 1},
       .groups = 32,
       .bias = true},
      {.label = "whole_images",
       .x = {8, 72, 14, 14},
       .w = {32, 72, 3, 3},
       .padding = {1, 1},
       .bias = true},
      {.label = "parts_of_outputs",
       .x = {1, 128, 11, 11},
       .w = {128, 128, 3, 3},
       .padding = {1, 1},
       .bias = true},
      {.label = "one_window", .x = {8, 24, 7, 7}, .w = {32, 24, 7, 7}, .bias = true},
      {.label = "one_window_of_few_channels",
       .x = {8, 4, 7, 7},
       .w = {12, 4, 7, 7},
       .bias = true,
       .every_dtype = true},
      {.label = "long_kernel",
       .x = {1, 8, 6, 7},
       .w = {9, 8, 5, 5},
       .bias = true,
       .every_dtype = true},
      {.label = "deep", .x = {1, 130, 8, 8}, .w = {70, 130, 3, 3}, .padding = {1, 1}},
      {.label = "rows_of_whole_vectors",
       .x = {2, 6, 9, 96},
       .w = {20, 3, 3, 3},
       .stride = {2, 2},
       .padding = {1, 1},
       .groups = 2,
       .bias = true},
      {.label = "rows_in_many_blocks_of_taps",
       .x = {1, 200, 4, 95},
       .w = {9, 200, 3, 3},
       .padding = {1, 1},
       .bias = true},
      {.label = "output_larger_than_caches",
       .x = {3, 2, 200, 224},
       .w = {35, 2, 3, 3},
       .padding = {1, 1},
       .bias = true,
       .heavy = true},
      {.label = "long_sum", .x = {1, 3, 256, 100}, .w = {1, 3, 256, 100}, .bias = true},
      {.label = "one_pixel", .x = {1, 130, 1, 1}, .w = {70, 130, 1, 1}},
      {.label = "no_images", .x = {0, 3, 8, 8}, .w = {4, 3, 3, 3}},
      {.label = "no_channels", .x = {2, 0, 4, 4}, .w = {17, 0, 1, 1}, .bias = true},
      {.label = "past_65535_groups", .x = {17, 1, 1000, 1000}, .w = {1, 1, 1, 2}, .heavy = true},
      {.label = "large",
       .x = {1, 64, 56, 56},
       .w = {128, 64, 3, 3},
       .padding = {1, 1},
       .heavy = true},
  };
}

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::s32})
    for (const Setup& setup : setups()) {
      if (dtype != DType::f32 && !setup.every_dtype) continue;
      // The shaders are those of `conv`, which a software GPU sees with every dtype that `conv` has.
      const bool seen = dtype == DType::f32 ||
                        (dtype == DType::s32 &&
                         (setup.label == "three_by_three" || setup.label == "many_outputs" ||
                          setup.label == "pointwise" || setup.label == "depthwise"));
      KernelCase entry{.label = std::string{to_string(dtype)} + "_" + setup.label,
                       .inputs = {{dtype, setup.x}, {dtype, setup.w}},
                       .params = {{"stride", setup.stride},
                                  {"padding", setup.padding},
                                  {"dilation", setup.dilation},
                                  {"groups", setup.groups}},
                       .heavy = setup.heavy || !seen};
      if (setup.bias) entry.inputs.push_back({dtype, Shape{setup.w[0]}});
      cases.push_back(std::move(entry));
    }
  return cases;
}

double output(const conv::Problem& p, const std::vector<std::vector<double>>& inputs,
              std::int64_t image, std::int64_t o, std::int64_t i, std::int64_t j) {
  const conv::Axis h = p.axes[0], w = p.axes[1];
  double sum = p.bias ? inputs[2][static_cast<std::size_t>(o)] : 0;
  const std::int64_t first_channel = o / p.outputs * p.channels;
  for (std::int64_t c = 0; c < p.channels; ++c)
    for (std::int64_t r = 0; r < h.taps; ++r)
      for (std::int64_t s = 0; s < w.taps; ++s) {
        const std::int64_t y = i * h.stride + r * h.tap_step - h.low;
        const std::int64_t x = j * w.stride + s * w.tap_step - w.low;
        if (y < 0 || y >= h.in || x < 0 || x >= w.in) continue;
        const std::int64_t plane = image * p.groups * p.channels + first_channel + c;
        const std::int64_t weight = ((o * p.channels + c) * h.taps + r) * w.taps + s;
        sum += inputs[0][static_cast<std::size_t>((plane * h.in + y) * w.in + x)] *
               inputs[1][static_cast<std::size_t>(weight)];
      }
  return sum;
}

std::vector<std::vector<double>> reference(const KernelCall& call,
                                           std::span<const TensorSpec> outputs,
                                           const std::vector<std::vector<double>>& inputs) {
  const conv::Problem p = describe(call).value();
  std::vector<double> result;
  result.reserve(outputs[0].elements());
  for (std::int64_t image = 0; image < p.images; ++image)
    for (std::int64_t o = 0; o < p.groups * p.outputs; ++o)
      for (std::int64_t i = 0; i < p.axes[0].out; ++i)
        for (std::int64_t j = 0; j < p.axes[1].out; ++j)
          result.push_back(cases::wrapped(output(p, inputs, image, o, i, j), call.dtype()));
  return {std::move(result)};
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "conv2d";
  suite.cases = all_cases();
  suite.reference = reference;
  // As for matmul: each output is a sum of `taps` products of values up to 2, and the bias.
  suite.bound = [](const KernelCall& call) {
    const DType dtype = call.dtype();
    if (is_integer(dtype)) return ErrorBound{};
    const double taps = static_cast<double>(call.shape(1).with(0, 1).elements());
    const double absolute = 8 * (taps + 2) * cases::compute_rounding(dtype);
    return ErrorBound{absolute + cases::subnormal(dtype), 2 * cases::rounding(dtype)};
  };
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::conv2d
