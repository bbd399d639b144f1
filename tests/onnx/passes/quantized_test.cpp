// The pass that makes integer products of floats between DequantizeLinear and QuantizeLinear.
#include "stoker/tests/onnx/passes/pass_test.hpp"

namespace stoker::onnx {
namespace {

using QuantizedProducts = PassTest;

TEST_F(QuantizedProducts, a_convolution_with_scales_for_each_output_is_qlinear_conv) {
  expect("quantized_products", R"(
    in x float[1,2,4,4]
    const s float[] = 0.03125
    const z uint8[] = 64
    const w int8[2,2,3,3] = 3
    const ws float[2] = 0.0625 0.03125
    const b int32[2] = 100 -50
    const bs float[2] = 0.001953125 0.0009765625
    const ys float[] = 0.3
    const yz uint8[] = 0
    q = QuantizeLinear(x, s, z)
    d = DequantizeLinear(q, s, z)
    dw = DequantizeLinear(w, ws) {axis: 0}
    db = DequantizeLinear(b, bs) {axis: 0}
    c = Conv(d, dw, db) {pads: [1,1,1,1], strides: [2,1]}
    y = QuantizeLinear(c, ys, yz)
    out y
  )",
         "const ws.1 int8[] = 0\nq = QuantizeLinear(x, s, z)\n"
         "y = QLinearConv(q, s, z, w, ws, ws.1, ys, yz, b) {pads: [1,1,1,1], strides: [2,1]}\n");
}

TEST_F(QuantizedProducts, a_bias_in_floats_becomes_one_of_32_bits) {
  expect("quantized_products", R"(
    in x float[1,1,3,3]
    const s float[] = 0.0625
    const z int8[] = -5
    const w uint8[1,1,2,2] = 130
    const ws float[] = 0.125
    const wz uint8[] = 128
    const b float[1] = 0.5
    const ys float[] = 0.7
    const yz int8[] = 3
    q = QuantizeLinear(x, s, z)
    d = DequantizeLinear(q, s, z)
    dw = DequantizeLinear(w, ws, wz)
    c = Conv(d, dw, b)
    y = QuantizeLinear(c, ys, yz)
    out y
  )",
         "const b.1 int32[1] = 64\nq = QuantizeLinear(x, s, z)\n"
         "y = QLinearConv(q, s, z, w, ws, wz, ys, yz, b.1)\n");
}

TEST_F(QuantizedProducts, products_are_qlinear_matmul_and_qgemm) {
  expect("quantized_products", R"(
    in x float[n,3]
    const s float[] = 0.0625
    const z uint8[] = 100
    const w int8[3,2] = 1 -2 3 -4 5 -6
    const ws float[2] = 0.0625 0.125
    const wz int8[2] = 1 2
    const ys float[] = 0.33
    const yz int8[] = 7
    q = QuantizeLinear(x, s, z)
    d = DequantizeLinear(q, s, z)
    dw = DequantizeLinear(w, ws, wz) {axis: -1}
    c = MatMul(d, dw)
    y = QuantizeLinear(c, ys, yz)
    out y
  )",
         "q = QuantizeLinear(x, s, z)\ny = QLinearMatMul(q, s, z, w, ws, wz, ys, yz)\n");
  expect("quantized_products", R"(
    in x float[2,3]
    const s float[] = 0.0625
    const w uint8[2,3] = 1 2 3 4 5 6
    const ws float[2] = 0.0625 0.125
    const wz uint8[2] = 3 4
    const b float[2] = 1 -1
    const ys float[] = 0.11
    const z int8[] = 0
    q = QuantizeLinear(x, s, z)
    d = DequantizeLinear(q, s, z)
    dw = DequantizeLinear(w, ws, wz) {axis: 0}
    c = Gemm(d, dw, b) {transB: 1}
    y = QuantizeLinear(c, ys, z)
    out y
  )",
         "const b.1 int32[2] = 256 -128\nq = QuantizeLinear(x, s, z)\n"
         "y = QGemm(q, s, z, w, ws, wz, b.1, ys, z) {transB: 1}\n");
}

/// What TensorRT's and PyTorch's quantizers write: symmetric s8, whose zero point is in the middle.
TEST_F(QuantizedProducts, a_relu_becomes_a_clip_of_integers_at_the_zero_point) {
  expect("quantized_products", R"(
    in x float[1,1,3,3]
    const s float[] = 0.0625
    const z int8[] = 0
    const w int8[2,1,2,2] = 13 -7 5 -90 127 -128 3 4
    const ws float[2] = 0.125 0.25
    const wz int8[2] = 0
    const ys float[] = 0.03125
    q = QuantizeLinear(x, s, z)
    d = DequantizeLinear(q, s, z)
    dw = DequantizeLinear(w, ws, wz) {axis: 0}
    c = Conv(d, dw)
    r = Relu(c)
    y = QuantizeLinear(r, ys, z)
    out y
  )",
         "q = QuantizeLinear(x, s, z)\ny.1 = QLinearConv(q, s, z, w, ws, wz, ys, z)\n"
         "y = Clip(y.1, z)\n");
  // Zero points that are vectors of one, as some files have them.
  expect("quantized_products", R"(
    in x float[2,2]
    const s float[1] = 0.0625
    const z int8[1] = 3
    const w int8[2,2] = 13 -7 5 -90
    q = QuantizeLinear(x, s, z)
    d = DequantizeLinear(q, s, z)
    dw = DequantizeLinear(w, s, z)
    c = Gemm(d, dw)
    r = Relu(c)
    y = QuantizeLinear(r, s, z)
    out y
  )",
         "const s.1 int8[] = 3\nq = QuantizeLinear(x, s, z)\n"
         "y.1 = QGemm(q, s, z, w, s, z, , s, z)\ny = Clip(y.1, s.1)\n");
}

TEST_F(QuantizedProducts, a_clip_becomes_one_of_integers_where_it_cuts_off_more_than_the_type) {
  const auto clipped = [](const std::string& zero, const std::string& clip) {
    return "in x float[2,2]\nconst s float[] = 0.0625\nconst ys float[] = 0.03125\nconst z " +
           zero +
           "\nconst w uint8[2,2] = 13 7 255 90\nconst zero float[] = 0\nconst six float[] = 6\n" +
           "const low float[] = -1\nq = QuantizeLinear(x, s, z)\nd = DequantizeLinear(q, s, z)\n"
           "dw = DequantizeLinear(w, s)\nc = MatMul(d, dw)\n" +
           clip + "y = QuantizeLinear(r, ys, z)\nout y\n";
  };
  const auto product = [](const std::string& result) {
    return "q = QuantizeLinear(x, s, z)\n" + result +
           " = QLinearMatMul(q, s, z, w, s, s.1, ys, z)\n";
  };
  const std::string none = "const s.1 uint8[] = 0\n";
  expect("quantized_products", clipped("int8[] = -100", "r = Clip(c, zero, six)\n"),
         none + "const ys.1 int8[] = 92\n" + product("y.1") + "y = Clip(y.1, z, ys.1)\n");
  expect("quantized_products", clipped("uint8[] = 100", "r = Clip(c, low)\n"),
         none + "const ys.1 uint8[] = 68\n" + product("y.1") + "y = Clip(y.1, ys.1)\n");
  expect("quantized_products", clipped("uint8[] = 0", "r = Clip(c, low, six)\n"),
         none + "const ys.1 uint8[] = 192\n" + product("y.1") + "y = Clip(y.1, , ys.1)\n");
  expect("quantized_products", clipped("uint8[] = 0", "r = Relu(c)\n"), none + product("y"));
}

TEST_F(QuantizedProducts, what_integers_do_not_say_stays) {
  const std::string begin = R"(
    in x float[2,2]
    in free float[]
    const s float[] = 0.0625
    const two float[2] = 0.0625 0.125
    const z uint8[] = 100
    const wide int16[2,2] = 1 2 3 4
    const w int8[2,2] = 1 2 3 4
    const b float[2] = 1 2
    q = QuantizeLinear(x, s, z)
    d = DequantizeLinear(q, s, z)
  )";
  // The result is read elsewhere, or by nobody who quantises.
  expect_left("quantized_products", begin + R"(
    dw = DequantizeLinear(w, s)
    c = MatMul(d, dw)
    y = QuantizeLinear(c, s, z)
    e = Neg(c)
    out y e
  )");
  // A Relu that others read, and one that is none.
  expect_left("quantized_products", begin + R"(
    dw = DequantizeLinear(w, s)
    c = MatMul(d, dw)
    r = Relu(c)
    y = QuantizeLinear(r, s, z)
    e = Neg(r)
    out y e
  )");
  expect_left("quantized_products", begin + R"(
    dw = DequantizeLinear(w, s)
    c = MatMul(d, dw)
    r = LeakyRelu(c)
    y = QuantizeLinear(r, s, z)
    out y
  )");
  expect_left("quantized_products", begin + R"(
    dw = DequantizeLinear(w, s)
    c = MatMul(d, dw)
    r = Clip(c, free)
    y = QuantizeLinear(r, s, z)
    out y
  )");
  // Scales that are no constants, those of rows of weights, and those of columns of a left side.
  expect_left("quantized_products", begin + R"(
    dw = DequantizeLinear(w, free)
    c = MatMul(d, dw)
    y = QuantizeLinear(c, s, z)
    out y
  )");
  expect_left("quantized_products", begin + R"(
    dw = DequantizeLinear(w, two) {axis: 0}
    c = MatMul(d, dw)
    y = QuantizeLinear(c, s, z)
    out y
  )");
  expect_left("quantized_products", begin + R"(
    dl = DequantizeLinear(w, two)
    dw = DequantizeLinear(w, s)
    c = MatMul(dl, dw)
    y = QuantizeLinear(c, s, z)
    f = Neg(d)
    out y f
  )");
  // Weights of 16 bits, and a bias with a factor.
  expect_left("quantized_products", begin + R"(
    dw = DequantizeLinear(wide, s)
    c = MatMul(d, dw)
    y = QuantizeLinear(c, s, z)
    out y
  )");
  expect_left("quantized_products", begin + R"(
    dw = DequantizeLinear(w, s)
    c = Gemm(d, dw, b) {beta: 0.5}
    y = QuantizeLinear(c, s, z)
    out y
  )");
}

/// Models between quantised values, in all mixtures of types, as the floats and as the pass compute them.
TEST_F(QuantizedProducts, results_differ_from_those_of_floats_by_one_step_at_most) {
  const std::string types[] = {"int8", "uint8"};
  for (int i = 0; i < 16; ++i) {
    const bool x_signed = (i & 1) == 0, w_signed = (i & 2) == 0, is_conv = (i & 4) == 0;
    const bool has_relu = (i & 8) != 0;
    const auto list = [&](int count, auto&& number) {
      std::string text;
      for (int at = 0; at < count; ++at) text += ' ' + std::to_string(number(at));
      return text;
    };
    const int outputs = 20, each = is_conv ? 6 * 9 : 6;
    const std::string weights =
        list(outputs * each, [&](int at) { return (at * 53 + 29) % 251 - (w_signed ? 125 : 0); });
    const std::string scales = list(outputs, [](int at) { return 0.001 + 0.0007 * (at * 7 % 10); });
    const std::string zeros = list(outputs, [&](int at) { return w_signed ? 0 : 120 + at; });
    const std::string type = types[w_signed ? 0 : 1];
    const std::string text =
        "in x float[" + std::string{is_conv ? "2,6,9,8" : "12,6"} + "]\n" +
        "const s float[] = 0.0123\nconst z " + types[x_signed ? 0 : 1] +
        "[] = " + (x_signed ? "-11" : "97") + "\nconst w " + type +
        (is_conv ? "[20,6,3,3]" : "[20,6]") + " =" + weights + "\nconst ws float[20] =" + scales +
        "\nconst wz " + type + "[20] =" + zeros +
        "\nconst b float[20] = 0.37\nconst ys float[] = 0.071\nconst yz uint8[] = 131\n"
        "q = QuantizeLinear(x, s, z)\nd = DequantizeLinear(q, s, z)\n"
        "dw = DequantizeLinear(w, ws, wz) {axis: 0}\n" +
        (is_conv ? "c = Conv(d, dw, b) {pads: [1,1,1,1]}\n" : "c = Gemm(d, dw, b) {transB: 1}\n") +
        (has_relu ? "r = Relu(c)\ny = QuantizeLinear(r, ys, yz)\n"
                  : "y = QuantizeLinear(c, ys, yz)\n") +
        "out y\n";
    const Graph graph = GraphText::parse(text, opset);
    const NamedValues inputs{{"x", some(graph.inputs[0].type)}};
    const auto of = [&](Optimize level) {
      return load(file_of(graph), {.device = device_, .optimize = level})
          .run(inputs)
          .get()
          .at("y")
          .tensor()
          .to_vector<int>();
    };
    const std::vector<int> floats = of(Optimize::none), integers = of(Optimize::all);
    ASSERT_EQ(floats.size(), integers.size());
    EXPECT_GT(std::ranges::max(floats) - std::ranges::min(floats), has_relu ? 25 : 50) << text;
    for (std::size_t at = 0; at < floats.size(); ++at)
      ASSERT_LE(std::abs(floats[at] - integers[at]), 1) << at << " of " << text;
    EXPECT_EQ(GraphText::print(rewritten(graph, {"quantized_products"}), graph).find("Dequantize"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace stoker::onnx
