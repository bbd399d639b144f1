#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/conv/options.hpp"
#include "stoker/kernels/conv/plain_sums.hpp"
#include "stoker/kernels/conv/problem.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::conv {
namespace {

using List = std::vector<std::int64_t>;

struct Setup {
  std::string label;
  Shape x;
  Shape k;
  List strides = {}, low = {}, high = {}, spread = {}, dilation = {};
  std::int64_t feature_groups = 1, batch_groups = 1;
  List x_axes = {}, k_axes = {}, y_axes = {};
  bool flip = false;
  bool every_dtype = false;
  bool blocked = false;
  bool winograd = false;
};

const List last_2d{0, 3, 1, 2}, last_kernel_2d{3, 2, 0, 1};

// On the CPU, sums of more than 640 terms and images of some four million products run by oneDNN, smaller ones do not.
std::vector<Setup> setups() {
  return {
      {.label = "one", .x = {1, 1, 1}, .k = {1, 1, 1}, .every_dtype = true},
      {.label = "row", .x = {2, 3, 37}, .k = {5, 3, 4}, .low = {2}, .high = {1}},
      {.label = "image",
       .x = {2, 3, 13, 17},
       .k = {20, 3, 3, 3},
       .low = {1, 1},
       .high = {1, 1},
       .every_dtype = true},
      {.label = "everything_at_once",
       .x = {2, 6, 9, 11},
       .k = {8, 3, 3, 2},
       .strides = {2, 3},
       .low = {3, -1},
       .high = {-2, 4},
       .spread = {2, 3},
       .dilation = {3, 2},
       .feature_groups = 2,
       .flip = true,
       .every_dtype = true},
      {.label = "batch_groups",
       .x = {6, 4, 8, 9},
       .k = {9, 4, 3, 3},
       .strides = {2, 1},
       .batch_groups = 3,
       .every_dtype = true},
      {.label = "cropped", .x = {1, 2, 9, 9}, .k = {17, 2, 3, 3}, .low = {-2, -3}, .high = {-1, 0}},
      {.label = "cropped_to_nothing", .x = {1, 2, 9}, .k = {3, 2, 1}, .low = {-4}, .high = {-5}},
      {.label = "window_too_long", .x = {1, 2, 3, 9}, .k = {3, 2, 4, 1}},
      {.label = "padding_beyond",
       .x = {1, 2, 2, 3},
       .k = {4, 2, 3, 3},
       .low = {5, 4},
       .high = {4, 7}},
      {.label = "taps_far_apart",
       .x = {2, 2, 3, 4},
       .k = {5, 2, 2, 2},
       .low = {500'000, 700'000},
       .dilation = {500'000, 700'000},
       .every_dtype = true},
      {.label = "no_batch", .x = {0, 2, 5}, .k = {3, 2, 2}},
      {.label = "no_channels", .x = {2, 0, 5}, .k = {3, 0, 2}},
      {.label = "no_outputs", .x = {2, 2, 5}, .k = {0, 2, 2}},
      {.label = "no_entries", .x = {2, 2, 0, 4}, .k = {3, 2, 2, 2}, .low = {2, 0}, .high = {1, 0}},
      {.label = "no_taps", .x = {2, 2, 4}, .k = {3, 2, 0}},
      {.label = "volume",
       .x = {2, 3, 5, 6, 7},
       .k = {18, 3, 2, 3, 2},
       .strides = {1, 2, 1},
       .low = {1, 0, 1},
       .every_dtype = true},
      {.label = "six_axes",
       .x = {2, 2, 3, 2, 4, 3, 2, 3},
       .k = {3, 2, 2, 1, 2, 2, 2, 3},
       .strides = {1, 1, 2, 1, 1, 2},
       .high = {0, 1, 0, 0, 1, 2}},
      {.label = "channels_last",
       .x = {2, 9, 10, 20},
       .k = {3, 3, 20, 24},
       .low = {1, 1},
       .high = {1, 1},
       .x_axes = last_2d,
       .k_axes = last_kernel_2d,
       .y_axes = last_2d,
       .every_dtype = true},
      {.label = "axes_in_disorder",
       .x = {7, 3, 9, 2},
       .k = {3, 18, 2, 3},
       .x_axes = {3, 1, 2, 0},
       .k_axes = {1, 3, 0, 2},
       .y_axes = {2, 3, 1, 0}},
      {.label = "rows_apart",
       .x = {4, 2, 3, 33},
       .k = {5, 3, 2, 3},
       .low = {1, 0},
       .x_axes = {1, 2, 0, 3},
       .y_axes = {2, 1, 0, 3},
       .every_dtype = true},
      {.label = "one_channel_last",
       .x = {2, 9, 40, 1},
       .k = {3, 3, 1, 1},
       .strides = {1, 2},
       .low = {1, 1},
       .x_axes = last_2d,
       .k_axes = last_kernel_2d,
       .y_axes = last_2d,
       .every_dtype = true},
      {.label = "gradient_of_input",
       .x = {2, 6, 9, 10},
       .k = {6, 8, 3, 3},
       .low = {1, 1},
       .high = {1, 1},
       .k_axes = {1, 0, 2, 3},
       .flip = true,
       .every_dtype = true},
      {.label = "pointwise", .x = {3, 72, 12, 13}, .k = {100, 72, 1, 1}},
      {.label = "flipped", .x = {1, 18, 8, 9}, .k = {18, 18, 2, 3}, .flip = true},
      {.label = "depthwise",
       .x = {2, 19, 14, 15},
       .k = {38, 1, 3, 3},
       .low = {1, 1},
       .feature_groups = 19,
       .every_dtype = true},
      {.label = "past_a_tile",
       .x = {3, 72, 9, 9},
       .k = {67, 72, 3, 3},
       .low = {1, 1},
       .high = {1, 1}},
      {.label = "past_a_panel", .x = {3, 70, 9, 9}, .k = {67, 70, 3, 3}, .low = {1, 1}},
      {.label = "few_pixels",
       .x = {1, 40, 6},
       .k = {33, 40, 3},
       .strides = {2},
       .low = {1},
       .high = {1},
       .every_dtype = true},
      {.label = "few_pixels_of_two_images_and_groups",
       .x = {2, 34, 5, 4},
       .k = {14, 17, 3, 2},
       .strides = {4, 1},
       .low = {3, -1},
       .high = {-2, 1},
       .spread = {2, 1},
       .dilation = {1, 2},
       .feature_groups = 2},
      {.label = "few_pixels_of_one_channel",
       .x = {1, 1, 640},
       .k = {258, 1, 256},
       .strides = {128}},
      {.label = "few_pixels_of_one_output", .x = {8, 2048, 3, 3}, .k = {1, 2048, 3, 3}},
      {.label = "long_kernel", .x = {5, 3, 40, 41}, .k = {20, 3, 38, 38}, .every_dtype = true},
      {.label = "blocked",
       .x = {2, 32, 6, 7},
       .k = {1, 2, 3, 2, 16, 16},
       .low = {1, 0},
       .every_dtype = true,
       .blocked = true},
      {.label = "blocked_row", .x = {1, 16, 37}, .k = {2, 1, 3, 16, 16}, .blocked = true},
      {.label = "small_blocks",
       .x = {2, 24, 6, 7},
       .k = {1, 3, 3, 2, 8, 8},
       .low = {1, 0},
       .every_dtype = true,
       .blocked = true},
      {.label = "large_blocked",
       .x = {2, 32, 19, 20},
       .k = {4, 2, 3, 3, 16, 16},
       .strides = {2, 1},
       .low = {1, 1},
       .high = {1, 1},
       .blocked = true},
      {.label = "large_blocked_last",
       .x = {1, 18, 17, 48},
       .k = {8, 3, 3, 3, 16, 16},
       .low = {1, 1},
       .high = {1, 1},
       .x_axes = last_2d,
       .y_axes = last_2d,
       .blocked = true},
      {.label = "large_blocked_pointwise",
       .x = {1, 14, 15, 128},
       .k = {16, 8, 1, 1, 16, 16},
       .x_axes = last_2d,
       .y_axes = last_2d,
       .blocked = true},
      {.label = "large_small_blocks_in_bands",
       .x = {1, 12, 13, 144},
       .k = {21, 18, 3, 3, 8, 8},
       .low = {1, 1},
       .high = {1, 1},
       .x_axes = last_2d,
       .y_axes = last_2d,
       .blocked = true},
      {.label = "large_small_blocks_in_parts",
       .x = {1, 24, 30, 31},
       .k = {32, 3, 3, 3, 8, 8},
       .blocked = true},
      // Bands of unlike heights, and a kernel put in order in pieces of which the last is no whole block.
      {.label = "large_last_pointwise",
       .x = {1, 13, 11, 160},
       .k = {328, 160, 1, 1},
       .x_axes = last_2d,
       .y_axes = last_2d},
      {.label = "large_last_in_bands",
       .x = {2, 11, 9, 72},
       .k = {136, 72, 3, 3},
       .strides = {1, 2},
       .low = {1, 1},
       .high = {1, 0},
       .x_axes = last_2d,
       .y_axes = last_2d},
      // Patches that hang over, images cut off on one side, and outputs in parts.
      {.label = "winograd",
       .x = {2, 15, 12, 48},
       .k = {80, 48, 3, 3},
       .low = {1, 1},
       .high = {1, 1},
       .x_axes = last_2d,
       .y_axes = last_2d,
       .winograd = true},
      {.label = "winograd_cropped",
       .x = {1, 17, 25, 32},
       .k = {32, 32, 3, 3},
       .low = {-1, 2},
       .high = {0, -3},
       .x_axes = last_2d,
       .y_axes = last_2d,
       .flip = true,
       .winograd = true},
      {.label = "winograd_in_parts",
       .x = {1, 12, 13, 64},
       .k = {3, 3, 64, 256},
       .low = {1, 1},
       .high = {1, 1},
       .x_axes = last_2d,
       .k_axes = last_kernel_2d,
       .y_axes = last_2d,
       .winograd = true},
      {.label = "large_blocked_volume",
       .x = {2, 16, 6, 7, 9},
       .k = {2, 1, 3, 3, 3, 16, 16},
       .blocked = true},
      {.label = "long_sum", .x = {1, 3, 256, 100}, .k = {2, 3, 256, 100}},
      {.label = "large",
       .x = {4, 32, 28, 28},
       .k = {48, 32, 3, 3},
       .low = {1, 1},
       .high = {1, 1},
       .every_dtype = true},
      {.label = "large_last",
       .x = {4, 20, 20, 72},
       .k = {3, 3, 72, 48},
       .strides = {2, 2},
       .low = {1, 1},
       .high = {1, 1},
       .x_axes = last_2d,
       .k_axes = last_kernel_2d,
       .y_axes = last_2d},
      {.label = "large_one_image", .x = {1, 64, 22, 22}, .k = {128, 64, 3, 3}, .dilation = {2, 1}},
      {.label = "large_cropped",
       .x = {4, 72, 26, 31},
       .k = {32, 72, 3, 3},
       .strides = {2, 3},
       .low = {-3, 1},
       .high = {0, -4}},
      {.label = "large_flipped",
       .x = {2, 72, 12, 12},
       .k = {32, 72, 3, 3},
       .low = {2, 1},
       .high = {2, 1},
       .flip = true},
      {.label = "large_groups",
       .x = {2, 64, 15, 14},
       .k = {64, 16, 3, 3},
       .low = {1, 1},
       .feature_groups = 4},
      {.label = "large_depthwise",
       .x = {4, 64, 57, 56},
       .k = {64, 1, 3, 3},
       .strides = {2, 1},
       .low = {1, 1},
       .high = {1, 1},
       .feature_groups = 64},
      {.label = "large_row", .x = {3, 130, 200}, .k = {32, 130, 5}, .low = {2}, .high = {2}},
      {.label = "large_volume", .x = {2, 16, 6, 7, 9}, .k = {32, 16, 3, 3, 3}},
      {.label = "large_spread",
       .x = {2, 32, 8, 9},
       .k = {48, 32, 3, 3},
       .low = {1, 1},
       .high = {2, 2},
       .spread = {2, 2},
       .flip = true},
      {.label = "large_spread_plain",
       .x = {2, 8, 9, 32},
       .k = {4, 3, 32, 48},
       .low = {2, 1},
       .high = {2, 3},
       .spread = {2, 3},
       .x_axes = last_2d,
       .k_axes = last_kernel_2d,
       .y_axes = last_2d},
      {.label = "large_spread_groups",
       .x = {4, 32, 14, 13},
       .k = {32, 8, 3, 3},
       .low = {1, 1},
       .high = {1, 1},
       .spread = {2, 2},
       .feature_groups = 4},
      {.label = "large_kernel_gradient",
       .x = {8, 32, 30, 30},
       .k = {8, 48, 28, 28},
       .x_axes = {1, 0, 2, 3},
       .k_axes = {1, 0, 2, 3},
       .y_axes = {1, 0, 2, 3}},
      {.label = "large_kernel_gradient_strided",
       .x = {8, 32, 31, 30},
       .k = {8, 48, 15, 28},
       .low = {0, 1},
       .high = {0, 1},
       .dilation = {2, 1},
       .x_axes = {1, 0, 2, 3},
       .k_axes = {1, 0, 2, 3},
       .y_axes = {1, 0, 2, 3}},
      {.label = "large_kernel_gradient_last",
       .x = {8, 30, 30, 32},
       .k = {8, 28, 28, 48},
       .x_axes = {3, 0, 1, 2},
       .k_axes = {3, 0, 1, 2},
       .y_axes = {2, 3, 0, 1}},
      {.label = "large_kernel_gradient_groups",
       .x = {8, 32, 30, 30},
       .k = {8, 64, 28, 28},
       .batch_groups = 4,
       .x_axes = {1, 0, 2, 3},
       .k_axes = {1, 0, 2, 3},
       .y_axes = {1, 0, 2, 3}},
  };
}

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> cases;
  for (const DType dtype : rules::float_dtypes())
    for (const Setup& s : setups()) {
      if (dtype != DType::f32 && !s.every_dtype) continue;
      cases.push_back({.label = std::string{to_string(dtype)} + "_" + s.label,
                       .inputs = {{dtype, s.x}, {dtype, s.k}},
                       .params = {{"strides", s.strides},
                                  {"padding_low", s.low},
                                  {"padding_high", s.high},
                                  {"input_dilation", s.spread},
                                  {"kernel_dilation", s.dilation},
                                  {"feature_groups", s.feature_groups},
                                  {"batch_groups", s.batch_groups},
                                  {"input_axes", s.x_axes},
                                  {"kernel_axes", s.k_axes},
                                  {"output_axes", s.y_axes},
                                  {"flip", s.flip},
                                  {"kernel_blocked", s.blocked},
                                  {"winograd", s.winograd}}});
    }
  return cases;
}

/// An array seen through an order of its axes.
struct Seen {
  List extents, steps;
  Seen(const Shape& shape, const List& order) {
    const auto strides = shape.strides();
    for (std::size_t i = 0; i < shape.rank(); ++i) {
      const std::size_t at = order.empty() ? i : static_cast<std::size_t>(order[i]);
      extents.push_back(shape[at]);
      steps.push_back(strides[at]);
    }
  }
};

/// Where the kernel has the products of an output and a channel, tap by tap.
struct SeenKernel {
  List extents, steps;  // [outputs, channels, taps…]
  std::int64_t block = 1, output_block = 0, channel_block = 0;

  SeenKernel(const Shape& shape, const Conv& given) {
    if (!given.kernel_blocked) {
      const Seen seen{shape, given.kernel_axes.list()};
      extents = seen.extents;
      steps = seen.steps;
      output_block = steps[0];
      channel_block = steps[1];
      return;
    }
    const auto strides = shape.strides();
    const std::size_t rank = shape.rank() - 2;
    block = shape[rank];
    for (std::size_t i = 0; i < rank; ++i) {
      extents.push_back(i < 2 ? shape[i] * block : shape[i]);
      steps.push_back(i < 2 ? (i == 0 ? 1 : block) : strides[i]);
    }
    output_block = strides[0];
    channel_block = strides[1];
  }
  [[nodiscard]] std::int64_t at(std::int64_t output, std::int64_t channel) const {
    return output % block * steps[0] + output / block * output_block + channel % block * steps[1] +
           channel / block * channel_block;
  }
};

/// Counts through the spatial `extents`, the last fastest; false after the end.
bool next(List& at, const List& extents) {
  for (std::size_t axis = at.size(); axis-- > 0;) {
    if (++at[axis] < extents[axis + 2]) return true;
    at[axis] = 0;
  }
  return false;
}

std::vector<std::vector<double>> reference(const KernelCall& call,
                                           std::span<const TensorSpec> outputs,
                                           const std::vector<std::vector<double>>& inputs) {
  return {plain_sums(options::from<Conv>(call.params), {.x_shape = call.shape(),
                                                        .k_shape = call.shape(1),
                                                        .y_shape = outputs[0].shape,
                                                        .x = inputs[0],
                                                        .k = inputs[1]})};
}

}  // namespace

// Groups are told apart by arithmetic on channels and batch entries.
std::vector<double> plain_sums(const Conv& given, const PlainOperands& operands) {
  const Seen x{operands.x_shape, given.input_axes.list()};
  const SeenKernel k{operands.k_shape, given};
  const Seen y{operands.y_shape, given.output_axes.list()};
  const std::size_t spatial = operands.x_shape.rank() - 2;
  const auto numbers = [&](const Extents& option, std::int64_t fallback) {
    return option.list().empty() ? List(spatial, fallback) : option.list();
  };
  const List strides = numbers(given.strides, 1), dilation = numbers(given.kernel_dilation, 1);
  const List spreads = numbers(given.input_dilation, 1), low = numbers(given.padding_low, 0);
  const std::int64_t taken = k.extents[1];
  std::vector<double> result(static_cast<std::size_t>(operands.y_shape.elements()));
  if (result.empty()) return result;
  const bool empty = operands.k_shape.elements() == 0;
  for (std::int64_t n = 0; n < y.extents[0]; ++n)
    for (std::int64_t o = 0; o < y.extents[1]; ++o) {
      const std::int64_t image = o / (y.extents[1] / given.batch_groups) * y.extents[0] + n;
      const std::int64_t channel = o / (y.extents[1] / given.feature_groups) * taken;
      List i(spatial);
      do {
        double sum = 0;
        List t(spatial);
        do {
          if (empty) break;
          std::int64_t from = image * x.steps[0], at = 0;
          bool met = true;
          for (std::size_t axis = 0; axis < spatial && met; ++axis) {
            const std::int64_t place =
                i[axis] * strides[axis] + t[axis] * dilation[axis] - low[axis];
            const std::int64_t spread = spreads[axis];
            met = place >= 0 && place % spread == 0 && place / spread < x.extents[axis + 2];
            from += place / spread * x.steps[axis + 2];
            at += (given.flip ? k.extents[axis + 2] - 1 - t[axis] : t[axis]) * k.steps[axis + 2];
          }
          for (std::int64_t c = 0; met && c < taken; ++c)
            sum += operands.x[static_cast<std::size_t>(from + (channel + c) * x.steps[1])] *
                   operands.k[static_cast<std::size_t>(at + k.at(o, c))];
        } while (next(t, k.extents));
        std::int64_t to = n * y.steps[0] + o * y.steps[1];
        for (std::size_t axis = 0; axis < spatial; ++axis) to += i[axis] * y.steps[axis + 2];
        result[static_cast<std::size_t>(to)] = sum;
      } while (next(i, y.extents));
    }
  return result;
}

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "conv";
  suite.cases = all_cases();
  suite.reference = reference;
  // As for matmul: each of `terms` additions may round a sum that stays near 1.3·sqrt(terms).
  suite.bound = [](const KernelCall& call) {
    const DType dtype = call.dtype();
    const Shape shape = infer(call).value().shape;
    const Problem p = describe(call, shape);
    const double terms = static_cast<double>(p.channels * p.taps()) + 1;
    return ErrorBound{8 * terms * cases::compute_rounding(dtype) + cases::subnormal(dtype),
                      2 * cases::rounding(dtype)};
  };
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::conv
