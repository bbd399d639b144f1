// Gaussian error linear units, products and convolutions of com.microsoft.
#include "stoker/tests/onnx/operators/microsoft_node.hpp"

namespace stoker::onnx {
namespace {

using MicrosoftProducts = MicrosoftTest;
using Numbers = std::vector<float>;

std::vector<Attribute> activation(const std::string& name, const Numbers& numbers = {}) {
  std::vector<Attribute> all{named("activation", name)};
  if (!numbers.empty()) all.push_back(named("activation_params", numbers));
  return all;
}

TEST_F(MicrosoftProducts, gelu_has_a_bias_or_none) {
  const Tensor x = some({2, 4}, 1), bias = some({4}, 2);
  auto out = of_microsoft("Gelu", {x});
  expect_near(out, "y", {2, 4},
              {-0.166241F, 0.458759F, -0.1002108F, 1.117938F, 0.458759F, 0.5800295F, 1.540368F,
               -0.1669386F});
  out = of_microsoft("BiasGelu", {x, bias});
  expect_near(out, "y", {2, 4},
              {0.06871728F, 2.613627F, -0.08463209F, -0.1003234F, 1.258722F, 2.741806F, 1.399789F,
               -0.02083934F});
  out = of_microsoft("FastGelu", {x});
  expect_near(out, "y", {2, 4},
              {-0.1662789F, 0.4587212F, -0.1004284F, 1.117714F, 0.4587212F, 0.5799606F, 1.540195F,
               -0.1670473F});
  out = of_microsoft("FastGelu", {x, bias});
  expect_near(out, "y", {2, 4},
              {0.0687172F, 2.614096F, -0.08480503F, -0.1003247F, 1.258489F, 2.742277F, 1.399572F,
               -0.02045536F});
  EXPECT_NE(refused("BiasGelu", {x, some({1}, 2)}).find("bias: expected [4], got float[1]"),
            std::string::npos);
}

TEST_F(MicrosoftProducts, quick_gelu_has_a_slope) {
  auto out = of_microsoft("QuickGelu", {some({2, 4}, 1)});
  expect_near(out, "y", {2, 4},
              {-0.1603709F, 0.4646291F, -0.1083378F, 1.116934F, 0.4646291F, 0.5863901F, 1.528795F,
               -0.16103F});
  out = of_microsoft("QuickGelu", {some({2, 4}, 1)}, {named("alpha", 0.5F)});
  expect_near(out, "y", {2, 4},
              {-0.2640654F, 0.3609346F, -0.481232F, 0.8141935F, 0.3609346F, 0.4445F, 1.125543F,
               -0.3432947F});
}

TEST_F(MicrosoftProducts, fused_matmul_transposes_matrices_and_batches) {
  const Attribute yes_a = named("transA", std::int64_t{1}),
                  yes_b = named("transB", std::int64_t{1});
  auto out = of_microsoft("FusedMatMul", {some({2, 3}, 1), some({2, 3}, 2)},
                          {named("alpha", 0.5F), yes_b});
  expect_near(out, "y", {2, 2}, {0.484375F, 2.59375F, 1.046875F, -1.0625F});
  out = of_microsoft("FusedMatMul", {some({2, 3, 2}, 1), some({2, 3, 2}, 2)}, {yes_a});
  expect_near(out, "y", {2, 2, 2},
              {0.96875F, -0.25F, 1.8125F, -2.125F, -3.296875F, 3.125F, 1.578125F, -1});
  out = of_microsoft("FusedMatMul", {some({2, 2, 3}, 1), some({2, 3, 2}, 2)},
                     {named("transBatchA", std::int64_t{1})});
  expect_near(out, "y", {2, 2, 2},
              {-3.546875F, 0.8125F, 4.328125F, 1.5625F, -0.96875F, 0.296875F, 0.34375F, -0.78125F});
  out = of_microsoft("FusedMatMul", {some({2, 2, 3}, 1), some({2, 2, 3}, 2)},
                     {named("transBatchB", std::int64_t{1}), yes_b});
  expect_near(out, "y", {2, 2, 2},
              {0.96875F, 2.890625F, 2.09375F, -2.03125F, -7.1875F, -1.375F, -1.75F, -0.15625F});
  EXPECT_NE(refused("FusedMatMul", {some({2, 3}, 1), some({3, 2}, 2)},
                    {named("transBatchB", std::int64_t{1})})
                .find("transBatchB: expected 3 axes or more, got float[3,2]"),
            std::string::npos);
}

TEST_F(MicrosoftProducts, of_f16_may_be_large_before_alpha) {
  const auto halves = [](double value, const Shape& shape) {
    return as_type(full(shape, value, DType::f32), DType::f16);
  };
  const auto out = of_microsoft("FusedMatMul", {halves(256, {2, 64}), halves(256, {64, 3})},
                                {named("alpha", 0.0009765625F)});
  expect_near(out, "y", {2, 3}, std::vector<float>(6, 4096));
}

TEST_F(MicrosoftProducts, fused_gemm_ends_in_an_activation) {
  auto out =
      of_microsoft("FusedGemm", {some({3, 2}, 1), some({2, 3}, 2), some({2}, 3)},
                   {named("activation", std::string{"LeakyRelu"}), named("activation_alpha", 0.25F),
                    named("transA", std::int64_t{1}), named("transB", std::int64_t{1}),
                    named("alpha", 0.5F), named("beta", 2.0F)});
  expect_near(out, "y", {2, 2}, {-1.443359F, -0.7890625F, -0.640625F, -0.3671875F});
  out = of_microsoft("FusedGemm", {some({2, 3}, 1), some({3, 2}, 2)},
                     {named("activation", std::string{"HardSigmoid"}),
                      named("activation_alpha", 0.125F), named("activation_beta", 0.5F)});
  expect_near(out, "y", {2, 2}, {0.05664063F, 0.6015625F, 0.7949219F, 0.5078125F});
  out = of_microsoft("FusedGemm", {some({2, 3}, 1), some({3, 2}, 2)},
                     {named("activation", std::string{"Selu"}), named("activation_alpha", 1.5F),
                      named("activation_gamma", 1.25F)});
  expect_near(out, "y", {2, 2}, {-1.820973F, 1.015625F, 2.949219F, 0.078125F});
}

TEST_F(MicrosoftProducts, fused_conv_ends_in_an_activation) {
  const std::vector<Value> operands{some({1, 2, 3, 3}, 1), some({1, 2, 2, 2}, 2), some({1}, 3)};
  auto out = of_microsoft("FusedConv", operands, activation("Relu"));
  expect_near(out, "y", {1, 1, 2, 2}, {0, 0, 2.296875F, 2.265625F});
  out = of_microsoft("FusedConv", operands, activation("Tanh"));
  expect_near(out, "y", {1, 1, 2, 2}, {-0.9994776F, -0.9999991F, 0.9799729F, 0.978695F});
  out = of_microsoft("FusedConv", operands, activation("Sigmoid"));
  expect_near(out, "y", {1, 1, 2, 2}, {0.01590636F, 0.0006462038F, 0.9086179F, 0.9059899F});
  out = of_microsoft("FusedConv", operands, activation("HardSwish"));
  expect_near(out, "y", {1, 1, 2, 2}, {0, 0, 2.02771F, 1.988322F});
  out = of_microsoft("FusedConv", operands, activation("LeakyRelu", {0.25F}));
  expect_near(out, "y", {1, 1, 2, 2}, {-1.03125F, -1.835938F, 2.296875F, 2.265625F});
  out = of_microsoft("FusedConv", operands, activation("Clip", {-1, 2}));
  expect_near(out, "y", {1, 1, 2, 2}, {-1, -1, 2, 2});
  out = of_microsoft("FusedConv", operands, activation("HardSigmoid", {0.125F, 0.5F}));
  expect_near(out, "y", {1, 1, 2, 2}, {0, 0, 0.7871094F, 0.7832031F});
}

TEST_F(MicrosoftProducts, silu_is_x_times_its_sigmoid) {
  // ONNX Runtime 1.30 does not know it, later versions do: x · sigmoid(x) of the numbers in the test before.
  const auto out =
      of_microsoft("FusedConv", {some({1, 2, 3, 3}, 1), some({1, 2, 2, 2}, 2), some({1}, 3)},
                   activation("Silu"));
  expect_near(out, "y", {1, 1, 2, 2}, {-0.06561375F, -0.004745559F, 2.08698F, 2.05263F});
}

TEST_F(MicrosoftProducts, fused_conv_adds_a_tensor_before_the_activation) {
  const std::vector<Value> operands{some({1, 2, 3, 3}, 1), some({1, 2, 2, 2}, 2), some({1}, 3),
                                    some({1, 1, 2, 2}, 4)};
  const auto out = of_microsoft("FusedConv", operands, activation("Relu"));
  expect_near(out, "y", {1, 1, 2, 2}, {0, 0, 0.796875F, 3.515625F});
  EXPECT_NE(refused("FusedConv", {operands[0], operands[1], none(), some({1, 1, 2, 1}, 4)})
                .find("sum: expected [1,1,2,2], got float[1,1,2,1]"),
            std::string::npos);
}

TEST_F(MicrosoftProducts, unfit_activations_are_refused_at_load) {
  const std::vector<Value> operands{some({1, 2, 3, 3}, 1), some({1, 2, 2, 2}, 2)};
  EXPECT_NE(refused("FusedConv", operands, activation("Mish")).find("Mish is not known"),
            std::string::npos);
  EXPECT_NE(refused("FusedConv", operands, activation("Clip", {1}))
                .find("the activation Clip has 2 numbers, 1 are given"),
            std::string::npos);
  EXPECT_NE(refused("FusedGemm", {some({2, 3}, 1), some({3, 2}, 2)}, activation("LeakyRelu"))
                .find("the activation LeakyRelu has 1 numbers, 0 are given"),
            std::string::npos);
}

TEST_F(MicrosoftProducts, nhwc_conv_is_conv_with_channels_last) {
  // ONNX Runtime has no such kernel for the CPU; these are its numbers for Conv, with the axes moved.
  const Axes to_last{0, 2, 3, 1}, to_first{0, 3, 1, 2};
  const auto out = of_microsoft(
      "NhwcConv", {transpose(some({1, 2, 3, 3}, 1), to_last), some({2, 2, 2, 2}, 2), some({2}, 3)},
      {named("pads", std::vector<std::int64_t>{1, 0, 0, 1})});
  const NamedValues turned{{"y", transpose(out.at("y").tensor(), to_first)}};
  expect_near(turned, "y", {1, 2, 3, 3},
              {-3.296875F, 0.265625F, -2.65625F, -4.125F, -7.34375F, -0.03125F, 2.296875F,
               2.265625F, -3.359375F, -3.265625F, 2.671875F, -3.28125F, 1.765625F, -2.9375F,
               1.96875F, 2.84375F, -5.234375F, 2.015625F});
  EXPECT_NE(refused("NhwcConv", {some({2, 2}, 1), some({2, 2}, 2)}).find("got float[2,2]"),
            std::string::npos);
}

}  // namespace
}  // namespace stoker::onnx
