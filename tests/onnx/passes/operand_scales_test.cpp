// What scales and shifts the operand of a convolution or a product goes into its weights and bias.
#include "stoker/tests/onnx/passes/pass_test.hpp"

namespace stoker::onnx {
namespace {

using OperandScales = PassTest;

TEST_F(OperandScales, batch_norm_goes_into_the_convolution_behind_it) {
  expect("operand_scales", R"(
    in x float[1,2,3,3]
    const scale float[2] = 3 4
    const bias float[2] = 1 2
    const mean float[2] = 5 1
    const var float[2] = 2.25 0.25
    const w float[2,2,1,2] = 1 2 3 4 5 6 7 8
    const b float[2] = 1 -1
    n = BatchNormalization(x, scale, bias, mean, var) {epsilon: 0.0}
    y = Conv(n, w, b) {auto_pad: "VALID"}
    out y
  )",
         // Factors 2 and 8, shifts -9 and -6.
         "const b.1 float[2] = -68 -190\nconst w.1 float[2,2,1,2] = 2 4 24 32 10 12 56 64\n"
         "y = Conv(x, w.1, b.1) {auto_pad: \"VALID\"}\n");
}

TEST_F(OperandScales, written_out_scales_and_shifts_go_in_one_after_the_other) {
  expect("operand_scales", R"(
    in x float[1,2,3,3]
    const scale float[2,1,1] = 2 4
    const shift float[1,2,1,1] = 1 -1
    const half float[] = 0.5
    const one float[1] = 1
    const w float[1,2,1,1] = 1 3
    a = Mul(scale, x)
    b = Add(a, shift)
    c = Div(b, half)
    d = Sub(one, c)
    y = Conv(d, w)
    out y
  )",
         // 1 - 2 (scale · x + shift), by 1 and 3.
         "const w.4 float[1] = 8\nconst w.5 float[1,2,1,1] = -4 -24\ny = Conv(x, w.5, w.4)\n");
}

TEST_F(OperandScales, go_into_the_channels_of_groups) {
  expect("operand_scales", R"(
    in x float[1,4,3,3]
    const scale float[4,1,1] = 2 3 4 5
    const shift float[4,1,1] = 1 0 -1 2
    const w float[2,2,1,1] = 1 2 3 4
    a = Mul(x, scale)
    b = Add(a, shift)
    y = Conv(b, w) {group: 2, strides: [2,1]}
    out y
  )",
         "const w.1 float[2] = 1 5\nconst w.2 float[2,2,1,1] = 2 6 12 20\n"
         "y = Conv(x, w.2, w.1) {group: 2, strides: [2,1]}\n");
  expect("operand_scales", R"(
    in x float[1,4,3,3]
    const scale float[4,1,1] = 2 3 4 5
    const w float[4,1,1,2] = 1 2 3 4 5 6 7 8
    a = Mul(x, scale)
    y = ConvTranspose(a, w) {group: 2, strides: [2,1], pads: [0,1,0,0]}
    out y
  )",
         "const w.1 float[4,1,1,2] = 2 4 9 12 20 24 35 40\n"
         "y = ConvTranspose(x, w.1) {group: 2, strides: [2,1], pads: [0,1,0,0]}\n");
}

TEST_F(OperandScales, scales_go_into_a_convolution_with_padding) {
  // A batch normalization that adds nothing is a scale.
  expect("operand_scales", R"(
    in x float[n,2,3,3]
    const scale float[2] = 3 4
    const zero float[2] = 0
    const var float[2] = 2.25 0.25
    const w float[1,2,1,2] = 1 2 3 4
    const half float[] = 0.5
    n = BatchNormalization(x, scale, zero, zero, var) {epsilon: 0.0}
    d = Mul(n, half)
    y = Conv(d, w) {pads: [1,1,1,1]}
    out y
  )",
         "const w.2 float[1,2,1,2] = 1 2 12 16\ny = Conv(x, w.2) {pads: [1,1,1,1]}\n");
}

TEST_F(OperandScales, go_into_products) {
  expect("operand_scales", R"(
    in x float[n,2]
    const scale float[2] = 2 10
    const shift float[1,2] = 1 -1
    const w float[3,2] = 1 2 3 4 5 6
    const b float[3] = 1 2 3
    a = Mul(x, scale)
    c = Sub(a, shift)
    y = Gemm(c, w, b) {transB: 1, alpha: 0.5, beta: 2.0}
    out y
  )",
         "const b.1 float[3] = 2.5 4.5 6.5\nconst w.1 float[3,2] = 2 20 6 40 10 60\n"
         "y = Gemm(x, w.1, b.1) {transB: 1, alpha: 0.5}\n");
  // A MatMul takes no bias: what is added comes behind it, where it is computed with the product.
  expect("operand_scales", R"(
    in x float[2,n,2]
    const scale float[2] = 2 10
    const shift float[2] = 1 -1
    const w float[2,3] = 1 2 3 4 5 6
    a = Div(x, scale)
    c = Add(a, shift)
    y = MatMul(c, w)
    out y
  )",
         "const w.1 float[3] = -3 -3 -3\nconst w.2 float[2,3] = 0.5 1 1.5 0.4 0.5 0.6\n"
         "y.1 = MatMul(x, w.2)\ny = Add(y.1, w.1)\n");
  expect("operand_scales", R"(
    in x float[n,2]
    const scale float[2] = 3 4
    const bias float[2] = 1 2
    const mean float[2] = 5 1
    const var float[2] = 2.25 0.25
    const w float[2,1] = 1 2
    n = BatchNormalization(x, scale, bias, mean, var) {epsilon: 0.0}
    y = MatMul(n, w)
    out y
  )",
         "const w.1 float[2,1] = 2 16\nconst w.2 float[1] = -21\n"
         "y.1 = MatMul(x, w.1)\ny = Add(y.1, w.2)\n");
}

TEST_F(OperandScales, what_is_scaled_may_have_other_readers) {
  expect("operand_scales", R"(
    in x float[1,1,3,3]
    const two float[] = 2
    const w float[1,1,1,1] = 3
    r = Relu(x)
    a = Mul(r, two)
    c = Conv(a, w)
    y = Add(c, r)
    out y
  )",
         "const w.1 float[1,1,1,1] = 6\nr = Relu(x)\nc = Conv(r, w.1)\ny = Add(c, r)\n");
}

TEST_F(OperandScales, shifts_stay_where_padding_meets_the_weights) {
  for (const char* const product :
       {"Conv(a, w) {pads: [0,0,0,1]}", "Conv(a, w) {auto_pad: \"SAME_UPPER\"}",
        "ConvTranspose(a, w)"}) {
    SCOPED_TRACE(product);
    expect_left("operand_scales", std::string{R"(
      in x float[1,1,3,3]
      const shift float[1,1,1] = 1
      const w float[1,1,2,2] = 3
      a = Add(x, shift)
      y = )"} + product + "\nout y\n");
    expect_left("operand_scales", std::string{R"(
      in x float[1,1,3,3]
      const one float[1] = 1
      const w float[1,1,2,2] = 3
      a = BatchNormalization(x, one, one, one, one) {epsilon: 0.25}
      y = )"} + product + "\nout y\n");
  }
}

TEST_F(OperandScales, what_others_read_or_is_not_constant_stays) {
  // A scaled value that another node or the program reads is computed anyway.
  expect_left("operand_scales", R"(
    in x float[1,2,3,3]
    in s float[2,1,1]
    in v float[1,2,1,1]
    const two float[] = 2
    const w float[1,2,1,1] = 3
    a = Mul(x, two)
    b = Conv(a, w)
    c = Relu(a)
    d = Mul(x, s)
    e = Conv(d, w)
    f = Mul(x, two)
    g = Conv(f, v)
    h = Add(x, two)
    i = Conv(h, w)
    out b c e g i h
  )");
  // Weights that another node needs as they are would be there twice.
  expect_left("operand_scales", R"(
    in x float[1,64,4,4]
    const w float[64,64,1,1] = 0.125
    const two float[] = 2
    a = Mul(x, two)
    c = Conv(a, w)
    z = Conv(x, w)
    out c z
  )");
}

TEST_F(OperandScales, constants_along_other_axes_stay) {
  expect_left("operand_scales", R"(
    in x float[2,2,2,2]
    const columns float[2] = 3 4
    const rows float[2,1,1,1] = 3 4
    const two float[1,1,1,1,1] = 2
    const w float[1,2,1,1] = 1 2
    a = Mul(x, columns)
    b = Conv(a, w)
    c = Mul(x, rows)
    d = Conv(c, w)
    e = Div(columns, x)
    f = Conv(e, w)
    in m float[2,2]
    const high float[2,1] = 3 4
    const v float[2,2] = 1 2 3 4
    g = Mul(m, high)
    h = MatMul(g, v)
    i = Mul(m, columns)
    j = Gemm(i, v) {transA: 1}
    in t float[2,2,2]
    const one float[2] = 1
    k = BatchNormalization(t, columns, one, one, one)
    l = MatMul(k, v)
    out b d f h j l
  )");
}

TEST_F(OperandScales, constants_that_the_operand_is_broadcast_to_stay) {
  // One channel, or who knows how many, becomes two; a vector becomes a matrix.
  expect_left("operand_scales", R"(
    in x float[1,1,3,3]
    in u float[1,c,3,3]
    const pair float[2,1,1] = 3 4
    const w float[1,2,1,1] = 1 2
    a = Mul(x, pair)
    b = Conv(a, w)
    c = Add(u, pair)
    d = Conv(c, w)
    in m float[2]
    const row float[1,2] = 3 4
    const v float[2,2] = 1 2 3 4
    e = Mul(m, row)
    f = MatMul(e, v)
    g = Mul(m, row)
    h = Gemm(g, v)
    in o float[]
    const one float[1] = 3
    const s float[1,1] = 2
    i = Mul(o, one)
    j = MatMul(i, s)
    out b d f h j
  )");
}

TEST_F(OperandScales, shifts_that_would_cost_digits_of_the_result_stay) {
  // x - 1e6 is exact where x is near it; what is left of x · w - 1e6 · w is not.
  expect_left("operand_scales", R"(
    in x float[n,2]
    const far float[2] = 0 1e6
    const w float[2,1] = 0.1
    a = Sub(x, far)
    y = MatMul(a, w)
    out y
  )");
  expect_left("operand_scales", R"(
    in x float[1,1,2,2]
    const one float[1] = 1
    const far float[1] = 1e6
    const w float[1,1,1,1] = 0.1
    a = BatchNormalization(x, one, one, far, one)
    y = Conv(a, w)
    out y
  )");
  // Of pixels that are scaled to about 1 the shift is small.
  expect("operand_scales", R"(
    in x float[n,1]
    const mean float[] = 128
    const deviation float[] = 64
    const w float[1,1] = 0.5
    a = Sub(x, mean)
    b = Div(a, deviation)
    y = MatMul(b, w)
    out y
  )",
         "const w.1 float[1,1] = 0.0078125\n"
         "a = Sub(x, mean)\ny = MatMul(a, w.1)\n");
}

TEST_F(OperandScales, weights_that_would_lose_digits_stay) {
  expect_left("operand_scales", R"(
    in x float[n,1]
    const large float[] = 1e20
    const w float[1,1] = 1e-25
    a = Div(x, large)
    y = MatMul(a, w)
    out y
  )");
}

TEST_F(OperandScales, stay_in_models_that_compute_in_16_bits) {
  // 1e6 is more than f16 holds, and 1e6 · 1e-6 is not.
  const Graph graph = GraphText::parse(R"(
    in x float[n,2]
    const small float[] = 1e-6
    const w float[2,1] = 0.5 0.25
    a = Mul(x, small)
    y = MatMul(a, w)
    out y
  )",
                                       opset);
  const System system;
  const Model model =
      load(file_of(graph), {.device = system.device("vulkan"), .precision = Precision::f16});
  ASSERT_GT(model.info().precision->narrowed, 0U);
  const Tensor x = tensor(std::vector<float>{1e6F, 1e6F}, {1, 2});
  EXPECT_NEAR(model.run({{"x", x}}).get().at("y").tensor().item<float>(), 0.75F, 1e-3F);
}

TEST_F(OperandScales, numbers_that_would_become_infinite_stay) {
  expect_left("operand_scales", R"(
    in x float[1,1,2,2]
    const w float[1,1,1,1] = 1e30
    const large float[] = 1e30
    const zero float[] = 0
    a = Mul(x, large)
    b = Conv(a, w)
    c = Add(x, large)
    d = Conv(c, w)
    e = Div(x, zero)
    f = Conv(e, w)
    out b d f
  )");
}

}  // namespace
}  // namespace stoker::onnx
