// Chains of convolutions whose images have channels last while they run on the CPU.
#include "stoker/pipeline/tensor/passes/passes.hpp"
#include "stoker/pipeline/tensor/program/extraction.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

using ChannelsLast = Tensors;

expr::Program optimized(const Tensor& tensor, bool with_channels_last) {
  expr::Program program = expr::extract(std::vector{tensor.value()}).program();
  expr::optimize(program, with_channels_last);
  return program;
}

std::size_t transposed(const expr::Program& program) {
  return static_cast<std::size_t>(std::ranges::count_if(
      program.code, [](const auto& one) { return one.op->name.starts_with("transpose"); }));
}

Tensor numbers(Shape shape, double scale) {
  const Tensor count =
      reshape(iota({shape.elements()}, DType::f64), Axes(shape.begin(), shape.end()));
  return sin(count * scale).eval();
}

/// Two convolutions with what stands between them in residual networks, and where networks divide.
Tensor network(DType dtype, std::int64_t channels) {
  const auto given = [&](Shape shape, double scale) {
    return as_type(numbers(shape, scale), dtype);
  };
  const Tensor x = given({2, 3, 30, 28}, 0.37);
  const ConvOptions same{.padding = PadRule::same};
  const Tensor stem =
      relu(conv(x, given({channels, 3, 3, 3}, 1.1), same) + given({channels, 1, 1}, 0.7));
  const Tensor pooled = window_max(stem, {.dimensions = {1, 1, 2, 2}, .strides = Axes{1, 1, 2, 2}});
  const Tensor a = conv(pooled, given({channels, channels, 3, 3}, 0.9) / 8, same) * 0.1 + pooled;
  const Tensor b = conv(pooled, given({channels, channels, 1, 1}, 0.3) / 8);
  const Tensor both = concatenate({a, b}, 1);
  const Tensor kept = both - mean(both, {Axes{2, 3}, true});
  return conv(relu(kept), given({channels, 2 * channels, 3, 3}, 0.2) / 16, same);
}

TEST_F(ChannelsLast, only_the_edges_of_a_chain_are_transposed) {
  const expr::Program program = optimized(network(DType::f32, 64), true);
  EXPECT_EQ(transposed(optimized(network(DType::f32, 64), false)), 0U);
  // The image and the result, and the bias, which has one number for each channel.
  EXPECT_EQ(transposed(program), 3U) << program.to_text();
  for (const expr::Instruction& one : program.code)
    if (one.op->name == "conv") {
      EXPECT_EQ(one.attributes.integers("input_axes"), (std::vector<std::int64_t>{0, 3, 1, 2}));
    }
}

TEST_F(ChannelsLast, numbers_stay) {
  const Tensor y = network(DType::f32, 64);
  const Tensor exact = network(DType::f64, 64);
  EXPECT_EQ(y.shape(), exact.shape());
  expect_near(y, exact.to_vector<double>(), 1e-4);
}

TEST_F(ChannelsLast, narrow_small_and_wide_ones_of_other_types_stay_as_they_are) {
  EXPECT_EQ(transposed(optimized(network(DType::f32, 8), true)), 0U);
  EXPECT_EQ(transposed(optimized(network(DType::f64, 64), true)), 0U);
  const Tensor small = conv(ones({1, 16, 8, 8}), ones({16, 16, 3, 3}));
  EXPECT_EQ(transposed(optimized(small, true)), 0U);
}

TEST_F(ChannelsLast, convolutions_by_channel_are_turned_with_the_others) {
  const Tensor x = as_type(numbers({1, 32, 44, 44}, 0.3), DType::f32);
  const auto of = [](const Tensor& image) {
    const auto k = [&](Shape shape, double scale) {
      return as_type(numbers(shape, scale), image.dtype());
    };
    const Tensor wide = conv(image, k({64, 32, 1, 1}, 0.7) / 8);
    const Tensor each =
        conv(wide, k({64, 1, 3, 3}, 0.9),
             {.strides = Axes{2, 2}, .padding = PadRule::same, .feature_group_size = 64});
    return conv(relu(each + k({64, 1, 1}, 0.4)), k({512, 64, 1, 1}, 0.1) / 8);
  };
  EXPECT_EQ(transposed(optimized(of(x), true)), 3U);
  expect_near(of(x), of(as_type(x, DType::f64)).to_vector<double>(), 1e-4);
}

}  // namespace
}  // namespace stoker
