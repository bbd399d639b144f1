// Operators of which the standard's suite has no case.
#include <algorithm>
#include <cmath>
#include <span>

#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

using WithoutCases = OnnxTest;
using Floats = std::vector<float>;

TEST_F(WithoutCases, hard_swish_is_x_times_its_hard_sigmoid) {
  const Tensor x = tensor({-4.0, -1.5, 0.0, 1.5, 6.0});
  EXPECT_EQ(floats(of_node("HardSwish", {{"x", x}}), "y"), (Floats{0, -0.375F, 0, 1.125F, 6}));
}

TEST_F(WithoutCases, mish_is_x_times_tanh_of_its_softplus) {
  const Floats xs{-5, -0.5F, 0, 0.5F, 5};
  const Tensor x = tensor(std::span<const float>{xs}, Shape{5});
  const Floats y = floats(of_node("Mish", {{"x", x}}, {}, 22), "y");
  for (std::size_t i = 0; i < xs.size(); ++i)
    EXPECT_NEAR(y[i], xs[i] * std::tanh(std::log1p(std::exp(xs[i]))), 1e-6F) << xs[i];
}

TEST_F(WithoutCases, a_global_lp_pool_is_the_norm_of_each_channel) {
  const Tensor x = reshape(tensor({3.0, -4.0, 0.0, 0.0, 1.0, 1.0, -1.0, 1.0}), {1, 2, 2, 2});
  EXPECT_EQ(floats(of_node("GlobalLpPool", {{"x", x}}), "y"), (Floats{5, 2}));
  const auto sums = of_node("GlobalLpPool", {{"x", x}}, {named("p", std::int64_t{1})});
  EXPECT_EQ(floats(sums, "y"), (Floats{7, 4}));
  EXPECT_EQ(sums.at("y").shape(), (Shape{1, 2, 1, 1}));
}

TEST_F(WithoutCases, multinomial_draws_classes_as_often_as_their_weights_say) {
  // Logarithms of weights 1 and 3, and of 0, which is never drawn.
  const Tensor x = log(tensor({{1.0, 0.0, 3.0}, {0.0, 1.0, 0.0}}));
  const NamedValues out = of_node("Multinomial", {{"x", x}},
                                  {named("sample_size", std::int64_t{4000}), named("seed", 3.0F)});
  const std::vector<std::int64_t> drawn = whole(out, "y");
  ASSERT_EQ(out.at("y").shape(), (Shape{2, 4000}));
  EXPECT_EQ(out.at("y").type(), ElementType::s32);
  const auto row = drawn.begin() + 4000;
  EXPECT_EQ(std::count(drawn.begin(), row, 1), 0);
  EXPECT_NEAR(static_cast<double>(std::count(drawn.begin(), row, 2)), 3000, 150);
  EXPECT_EQ(std::count(row, drawn.end(), 1), 4000);
}

TEST_F(WithoutCases, numbers_like_a_tensor_have_its_shape_and_the_mean_and_scale_that_are_said) {
  const NamedValues out = of_node("RandomNormalLike", {{"x", zeros({50, 100}, DType::f64)}},
                                  {named("mean", 2.0F), named("scale", 0.5F), named("seed", 1.0F)});
  EXPECT_EQ(out.at("y").type(), ElementType::f64);
  EXPECT_EQ(out.at("y").shape(), (Shape{50, 100}));
  const Tensor y = out.at("y").tensor();
  EXPECT_NEAR(mean(y).item<double>(), 2, 0.03);
  EXPECT_NEAR(mean((y - 2.0) * (y - 2.0)).item<double>(), 0.25, 0.02);
}

}  // namespace
}  // namespace stoker::onnx
