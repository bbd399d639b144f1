// What keeps its digits: dtypes of numbers in composed functions, sums inside of means, long sums, draws
// within their bounds, arguments at the ends of a range.
#include <algorithm>
#include <limits>
#include <numbers>

#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

using Precision = Tensors;
using PrecisionOnDevices = TensorsOnDevices;

TEST_F(Precision, logarithms_of_any_base_are_as_exact_as_their_operand) {
  const std::vector<double> numbers{2, 8, 1000, 1e-5, 0.3, 7e200};
  const Tensor x = tensor(numbers);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto close = [&](const Tensor& got, double want) {
      EXPECT_NEAR(got[static_cast<std::int64_t>(i)].item<double>(), want, 4e-16 * std::abs(want));
    };
    close(log2(x), std::log2(numbers[i]));
    close(log10(x), std::log10(numbers[i]));
    close(log(x, 3), std::log(numbers[i]) / std::log(3.0));
    close(log(x, full({}, 3.0, DType::f64)), std::log(numbers[i]) / std::log(3.0));
  }
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    EXPECT_EQ(log2(ones({2}, dtype)).dtype(), dtype);
    EXPECT_EQ(log10(ones({2}, dtype)).dtype(), dtype);
    EXPECT_EQ(log(ones({2}, dtype), 3).dtype(), dtype);
  }
  EXPECT_EQ(log2(ones({2}, DType::s32)).dtype(), DType::f32);
  expect_values<float>(as_type(log2(full({1}, 8.0, DType::f16)), DType::f32), {1}, {3});
}

TEST_P(PrecisionOnDevices, sums_within_means_of_16_bit_floats_do_not_overflow) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const double unit = dtype == DType::f16 ? 0x1p-10 : 0x1p-7;
    const auto item = [](const Tensor& x) { return as_type(x, DType::f32).item<float>(); };
    const Tensor many = zeros({70000}, dtype);
    EXPECT_EQ(logsumexp(many).dtype(), dtype);
    EXPECT_NEAR(item(logsumexp(many)), std::log(70000.0), 12 * unit);
    EXPECT_NEAR(item(logsumexp(many, ones({70000}, dtype), {})), std::log(70000.0), 12 * unit);
    EXPECT_NEAR(item(log_softmax(many)[0]), -std::log(70000.0), 12 * unit);
    const Tensor large = full({16}, 30000.0, dtype);
    const float stored = item(large[0]);
    EXPECT_EQ(item(reduce_max(window_mean(large, {.dimensions = {8}}))), stored);
    EXPECT_EQ(item(weighted_mean(large, ones({16}, dtype))), stored);
    EXPECT_EQ(window_mean(large, {.dimensions = {8}}).dtype(), dtype);
    EXPECT_EQ(weighted_mean(large, ones({16}, dtype)).dtype(), dtype);
    const Tensor spread = as_type(reshape(iota({100, 1}) * 8 - 396, {100, 1}), dtype);
    EXPECT_EQ(covariance(spread).dtype(), dtype);
    EXPECT_NEAR(item(covariance(spread)[{0, 0}]), 53328, 53328 * unit);
  }
}

TEST_P(PrecisionOnDevices, uniform_draws_lie_below_their_upper_bound) {
  struct Range {
    DType dtype;
    double low, high;
  };
  for (const Range& one :
       {Range{DType::f16, 1000, 1001}, Range{DType::bf16, 100, 101},
        Range{DType::f32, 1e7, 1e7 + 2}, Range{DType::f16, -1, 1}, Range{DType::f32, 0, 1}}) {
    const Tensor drawn =
        random::uniform_split(random::key(7), Shape{40000}, one.low, one.high, one.dtype);
    std::vector<float> values = as_type(drawn, DType::f32).to_vector<float>();
    const auto [least, most] = std::ranges::minmax(values);
    EXPECT_GE(least, one.low);
    EXPECT_LT(most, one.high);
    double mean = 0;
    for (const float value : values) mean += value / 40000.0;
    // Half a step below the middle, where there are steps.
    const double step = one.dtype == DType::f16 && one.low == 1000 ? 0.5
                        : one.dtype == DType::bf16                 ? 0.5
                        : one.low > 1e6                            ? 1
                                                                   : 0;
    EXPECT_NEAR(mean, (one.low + one.high - step) / 2, (one.high - one.low) * 0.01) << one.low;
  }
}

TEST_P(PrecisionOnDevices, long_products_are_as_exact_as_short_ones) {
  for (const auto& [k, columns] :
       {std::pair<std::int64_t, std::int64_t>{2097153, 1}, {3000017, 3}}) {
    const Tensor x = ones({1, k});
    expect_near(
        matmul(x, full({k, columns}, 0.1)),
        std::vector<double>(static_cast<std::size_t>(columns), 0.1F * static_cast<double>(k)),
        1e-4);
    expect_near(matmul(x, ones({k, columns})),
                std::vector<double>(static_cast<std::size_t>(columns), static_cast<double>(k)), 0);
  }
  const std::int64_t k = 600001;
  expect_near(matmul(ones({3, k}), ones({k, 2})) - k, {0, 0, 0, 0, 0, 0}, 0);
  expect_near(matmul(full({3, k}, 0.5, DType::f16), full({k, 2}, 0.125, DType::f16)),
              std::vector<double>(6, 37504), 1e-3);
}

TEST_P(PrecisionOnDevices, long_columns_are_normalized_to_their_end) {
  const std::int64_t n = 1100000;
  const Tensor y = softmax(concatenate({zeros({n, 2}), full({1, 2}, 10.0)}, 0), 0);
  const double whole = static_cast<double>(n) + std::exp(10.0);
  expect_near(y[n] * whole, {std::exp(10.0), std::exp(10.0)}, 1e-4);
  expect_near(y[n - 1] * whole, {1, 1}, 1e-4);
  expect_near(sum(y, {Axes{0}}), {1, 1}, 1e-4);
}

TEST_P(PrecisionOnDevices, short_rows_are_scanned_like_long_ones) {
  for (const auto& [rows, length] : {std::pair<std::int64_t, std::int64_t>{70000, 3},
                                     {5000, 200},
                                     {3, 16},
                                     {3, 17},
                                     {5000, 257}}) {
    const Tensor x = reshape(iota({rows * length}), {rows, length}) % 7;
    for (const bool reverse : {false, true}) {
      const Tensor up = cumulative_sum(x, 1, reverse);
      const Tensor columns = transpose(cumulative_sum(transpose(x), 0, reverse));
      EXPECT_TRUE(all(up == columns).item<bool>()) << rows << " rows of " << length;
    }
  }
}

TEST_P(PrecisionOnDevices, sines_of_the_largest_numbers_are_numbers) {
  const float most = std::numeric_limits<float>::max();
  const Tensor x = tensor(std::vector<float>{most, -most, 3.4e38F, 1e30F});
  const double at = static_cast<double>(most);
  expect_near(sin(x),
              {std::sin(at), -std::sin(at), std::sin(double{3.4e38F}), std::sin(double{1e30F})});
  expect_near(cos(x),
              {std::cos(at), std::cos(at), std::cos(double{3.4e38F}), std::cos(double{1e30F})});
  expect_near(tan(x),
              {std::tan(at), -std::tan(at), std::tan(double{3.4e38F}), std::tan(double{1e30F})});
}

TEST_F(Precision, a_sigmoid_keeps_its_digits_as_far_as_there_are_numbers) {
  const std::vector<double> at{-745, -720, -709, -500, -40, 0, 40};
  const std::vector<double> got = sigmoid(tensor(at)).to_vector<double>();
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double want =
        at[i] < 0 ? std::exp(at[i]) / (1 + std::exp(at[i])) : 1 / (1 + std::exp(-at[i]));
    EXPECT_NEAR(got[i], want, 8e-16 * want + 5e-324) << at[i];
  }
}

TEST_F(Precision, least_squares_takes_columns_that_depend_on_each_other) {
  const Tensor x = linalg::least_squares(ones({20, 5}), full({20}, 10.0));
  expect_near(x, std::vector<double>(5, 2), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Devices, PrecisionOnDevices, every_device(), device_name);

}  // namespace
}  // namespace stoker
