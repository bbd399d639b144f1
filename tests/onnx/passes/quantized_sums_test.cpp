// The pass that sums products of integers where their result stays in floats.
#include "stoker/tests/onnx/passes/pass_test.hpp"

namespace stoker::onnx {
namespace {

class QuantizedSums : public PassTest {
 protected:
  /// What is computed of `d`, which stands for 8-bit integers.
  static std::string behind(const std::string& type, const std::string& rest) {
    return "in x float" + type + R"(
    const s float[] = 0.0625
    const z uint8[] = 100
    q = QuantizeLinear(x, s, z)
    d = DequantizeLinear(q, s, z)
)" + rest;
  }
  [[nodiscard]] std::shared_ptr<const ModelFile> rewritten_for_gpu(const Graph& graph) const {
    const OperatorTable& operators = OperatorTable::standard();
    return optimized(file_of(graph), chosen_passes(Optimize::all, all_but({"quantized_sums"})),
                     operators, node_evaluation(operators, device_), DeviceType::discrete_gpu);
  }
  /// The same of a model on a GPU; numbers are compared here.
  void expect_on_gpu(const std::string& before, const std::string& after) const {
    const Graph graph = GraphText::parse(before, opset);
    const auto made = rewritten_for_gpu(graph);
    EXPECT_EQ(GraphText::print(made->graph, graph), after);
    const NamedValues inputs{{"x", some(graph.inputs[0].type)}};
    const auto of = [&](const std::shared_ptr<const ModelFile>& file) {
      return load(file, {.device = device_, .optimize = Optimize::none})
          .run(inputs)
          .get()
          .at("y")
          .tensor()
          .to_vector<double>();
    };
    const std::vector<double> expected = of(file_of(graph)), got = of(made);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], expected[i], 2e-6 + 2e-5 * std::abs(expected[i])) << i;
  }
  void expect_on_gpu_left(const std::string& before) const {
    const Graph graph = GraphText::parse(before, opset);
    const auto made = rewritten_for_gpu(graph);
    EXPECT_EQ(GraphText::print(made->graph, graph), GraphText::print(graph, graph));
  }
  static std::string list(std::int64_t count) {
    std::string text;
    for (std::int64_t i = 0; i < count; ++i)
      text += ' ' + std::to_string((i * 53 + 29) % 251 - 125);
    return text;
  }
};

TEST_F(QuantizedSums, a_convolution_is_conv_integer_whose_sums_are_dequantised) {
  expect("quantized_sums", behind("[1,2,4,4]", R"(
    const w int8[2,2,3,3] = 3
    const ws float[2] = 0.0625 0.03125
    const b int32[2] = 100 -50
    const bs float[2] = 0.00390625 0.001953125
    dw = DequantizeLinear(w, ws) {axis: 0}
    db = DequantizeLinear(b, bs) {axis: 0}
    y = Conv(d, dw, db) {pads: [1,1,1,1], strides: [2,1]}
    out y
  )"),
         "const ws.1 float[2] = 0.00390625 0.00195312\nconst db.1 int64[3] = -1 1 1\n"
         "q = QuantizeLinear(x, s, z)\ndb = DequantizeLinear(b, bs) {axis: 0}\n"
         "y.1 = ConvInteger(q, w, z) {pads: [1,1,1,1], strides: [2,1]}\n"
         "db.2 = Reshape(db, db.1)\ny.2 = DequantizeLinear(y.1, ws.1) {axis: 1}\n"
         "y = Add(y.2, db.2)\n");
  expect_on_gpu(
      R"(
    in x float[2,4,7]
    const s float[] = 0.0625
    const w uint8[2,2,3] = 1 2 3 250 5 6 7 8 9 10 11 12
    const wz uint8[] = 128
    const b float[2] = 0.5 -0.25
    q = QuantizeLinear(x, s)
    d = DequantizeLinear(q, s)
    dw = DequantizeLinear(w, s, wz)
    y = Conv(d, dw, b) {group: 2, dilations: [2]}
    out y
  )",
      "const s.1 float[] = 0.00390625\nconst b.1 int64[2] = -1 1\nq = QuantizeLinear(x, s)\n"
      "y.1 = ConvInteger(q, w, , wz) {group: 2, dilations: [2]}\nb.2 = Reshape(b, b.1)\n"
      "y.2 = DequantizeLinear(y.1, s.1)\ny = Add(y.2, b.2)\n");
}

TEST_F(QuantizedSums, a_product_is_matmul_integer_whatever_is_added_to_it) {
  expect_on_gpu(behind("[2,n,3]", R"(
    const w int8[3,2] = 1 -2 3 -4 5 -6
    const ws float[2] = 0.0625 0.125
    const wz int8[2] = 1 2
    const b float[2] = 0.5 -1
    dw = DequantizeLinear(w, ws, wz) {axis: 1}
    c = MatMul(d, dw)
    y = Add(c, b)
    out y
  )"),
                "const ws.1 float[2] = 0.00390625 0.0078125\nq = QuantizeLinear(x, s, z)\n"
                "c.1 = MatMulInteger(q, w, z, wz)\nc = DequantizeLinear(c.1, ws.1) {axis: -1}\n"
                "y = Add(c, b)\n");
}

TEST_F(QuantizedSums, gemm_is_qgemm_with_its_transposes_and_factors) {
  expect_on_gpu(behind("[3,2]", R"(
    const w int8[4,3] = 1 -2 3 -4 5 -6 7 -8 9 -10 11 -12
    const ws float[4] = 0.0625 0.125 0.25 0.5
    const b float[4] = 1 -1 2 -2
    dw = DequantizeLinear(w, ws) {axis: 0}
    y = Gemm(d, dw, b) {transA: 1, transB: 1, alpha: 0.5, beta: 2.0}
    out y
  )"),
                "const ws.1 int8[] = 0\nconst b.1 float[] = 2\nq = QuantizeLinear(x, s, z)\n"
                "b.2 = Mul(b, b.1)\n"
                "y.1 = QGemm(q, s, z, w, ws, ws.1) {transA: 1, transB: 1, alpha: 0.5}\n"
                "y = Add(y.1, b.2)\n");
  expect_on_gpu(
      behind("[2,3]", R"(
    const w int8[3,1] = 1 -2 3
    dw = DequantizeLinear(w, s)
    y = Gemm(d, dw)
    out y
  )"),
      "const s.1 int8[] = 0\nq = QuantizeLinear(x, s, z)\ny = QGemm(q, s, z, w, s, s.1)\n");
}

/// A residual: what is quantised is a sum.
TEST_F(QuantizedSums, what_lies_before_the_next_quantizer_is_computed_of_the_sums) {
  const Graph graph = GraphText::parse(behind("[1,2,4,4]", R"(
    const w int8[2,2,1,1] = 3 -100 50 7
    const ws float[] = 0.0078125
    const ys float[] = 0.0625
    dw = DequantizeLinear(w, ws)
    c = Conv(d, dw)
    a = Add(c, d)
    r = Relu(a)
    y = QuantizeLinear(r, ys, z)
    out y
  )"),
                                       opset);
  const std::vector<std::string> passes{"quantized_products", "quantized_sums"};
  EXPECT_EQ(GraphText::print(rewritten(graph, passes), graph),
            "const ws.1 float[] = 0.000488281\nq = QuantizeLinear(x, s, z)\n"
            "d = DequantizeLinear(q, s, z)\nc.1 = ConvInteger(q, w, z)\n"
            "c = DequantizeLinear(c.1, ws.1)\na = Add(c, d)\nr = Relu(a)\n"
            "y = QuantizeLinear(r, ys, z)\n");
  expect_equal_numbers(graph, passes);
}

TEST_F(QuantizedSums, floats_that_others_read_as_well_stay_for_them) {
  expect_on_gpu(behind("[2,2]", R"(
    const w int8[2,2] = 1 2 3 4
    dw = DequantizeLinear(w, s)
    c = MatMul(d, dw)
    y = Tanh(c)
    e = Neg(c)
    f = Neg(d)
    out y e f
  )"),
                "const s.1 float[] = 0.00390625\nq = QuantizeLinear(x, s, z)\n"
                "d = DequantizeLinear(q, s, z)\nc.1 = MatMulInteger(q, w, z)\n"
                "c = DequantizeLinear(c.1, s.1)\ny = Tanh(c)\ne = Neg(c)\nf = Neg(d)\n");
}

/// PyTorch's quantizer leaves the weights in floats, before a QuantizeLinear.
TEST_F(QuantizedSums, weights_that_are_made_of_constants_are_constant) {
  expect_on_gpu(behind("[2,3]", R"(
    const w float[2,3] = 1 2 3 -4 0.25 0.5
    const ws float[2] = 0.0625 0.03125
    const wz int8[2] = 0
    qw = QuantizeLinear(w, ws, wz) {axis: 0}
    t = Transpose(qw) {perm: [1,0]}
    dw = DequantizeLinear(t, ws, wz) {axis: 1}
    y = MatMul(d, dw)
    out y
  )"),
                "const ws.1 float[2] = 0.00390625 0.00195312\nq = QuantizeLinear(x, s, z)\n"
                "qw = QuantizeLinear(w, ws, wz) {axis: 0}\nt = Transpose(qw) {perm: [1,0]}\n"
                "y.1 = MatMulInteger(q, t, z, wz)\ny = DequantizeLinear(y.1, ws.1) {axis: -1}\n");
}

/// There quantized_weights takes products, but for those with transposes or factors.
TEST_F(QuantizedSums, the_cpu_unpacks_the_weights_of_products) {
  const std::string constants = behind("[2,2]", R"(
    const w int8[2,2] = 1 2 -3 4
    const b float[2] = 0.5 -1
    dw = DequantizeLinear(w, s)
)");
  for (const std::string product : {"y = MatMul(d, dw)", "y = Gemm(d, dw)", "y = Gemm(d, dw, b)"}) {
    SCOPED_TRACE(product);
    expect_left("quantized_sums", constants + product + "\nout y\n");
  }
  expect("quantized_sums", constants + "y = Gemm(d, dw) {transA: 1}\nout y\n",
         "const s.1 int8[] = 0\nq = QuantizeLinear(x, s, z)\n"
         "y = QGemm(q, s, z, w, s, s.1) {transA: 1}\n");
  expect("quantized_sums", constants + "y = Gemm(d, dw, b) {beta: 0.5}\nout y\n",
         "const s.1 int8[] = 0\nconst b.1 float[] = 0.5\nq = QuantizeLinear(x, s, z)\n"
         "b.2 = Mul(b, b.1)\ny.1 = QGemm(q, s, z, w, s, s.1)\ny = Add(y.1, b.2)\n");
}

/// In integers it takes many times as long there, and its weights are few.
TEST_F(QuantizedSums, a_depthwise_convolution_stays_in_floats_on_the_cpu) {
  const std::string text = behind("[1,2,3,3]", R"(
    const w int8[2,1,2,2] = 1 2 -3 4 5 6 7 8
    dw = DequantizeLinear(w, s)
    y = Conv(d, dw) {group: 2}
    out y
  )");
  expect_left("quantized_sums", text);
  expect_on_gpu(text,
                "const s.1 float[] = 0.00390625\nq = QuantizeLinear(x, s, z)\n"
                "y.1 = ConvInteger(q, w, z) {group: 2}\ny = DequantizeLinear(y.1, s.1)\n");
}

TEST_F(QuantizedSums, what_integers_do_not_say_stays) {
  const auto left = [](const std::string& rest) {
    return behind("[2,2]", R"(
    in free float[]
    in bytes int8[2,2]
    const two float[2] = 0.0625 0.125
    const wide int16[2,2] = 1 2 3 4
    const four int4[2,2] = 1 2 3 4
    const w int8[2,2] = 1 2 3 4
    const blocks float[1,2] = 0.5 0.25
)" + rest + "\nout y\n");
  };
  const auto expect_stays = [&](const std::string& rest) {
    SCOPED_TRACE(rest);
    expect_on_gpu_left(left(rest));
  };
  // Weights that a run brings, of which no memory is saved.
  expect_stays("dw = DequantizeLinear(bytes, s)\ny = MatMul(d, dw)");
  expect_stays("dw = DequantizeLinear(w, s)\ny = MatMul(dw, d)");
  expect_stays("dw = DequantizeLinear(w, free)\ny = MatMul(d, dw)");
  expect_stays("dw = DequantizeLinear(wide, s)\ny = MatMul(d, dw)");
  expect_stays("dw = DequantizeLinear(four, s)\ny = MatMul(d, dw)");
  expect_stays("dw = DequantizeLinear(w, blocks) {axis: 0, block_size: 2}\ny = MatMul(d, dw)");
  // Scales of rows of weights, and of columns of a left side.
  expect_stays("dw = DequantizeLinear(w, two) {axis: 0}\ny = MatMul(d, dw)");
  expect_stays(
      "dl = DequantizeLinear(q, two)\ndw = DequantizeLinear(w, s)\ny = MatMul(dl, dw)\n"
      "e = Neg(d)\nout e");
}

TEST_F(QuantizedSums, sums_beyond_what_floats_count_are_exact) {
  constexpr std::int64_t k = 2048;
  std::string text = "in x uint8[1,2048,1]\nconst s float[] = 1\nconst w int8[1,2048,1] =";
  for (std::int64_t i = 0; i < k; ++i) text += i == k - 1 ? " 1" : " 127";
  text += "\nd = DequantizeLinear(x, s)\ndw = DequantizeLinear(w, s)\ny = Conv(d, dw)\nout y\n";
  const std::vector<double> all(k, 255);
  const float got =
      load(file_of(GraphText::parse(text, opset)), {.device = device_})
          .run({{"x", Value{Known::reals(all, Shape{1, k, 1}, ElementType::u8).tensor()}}})
          .get()
          .at("y")
          .tensor()
          .to_vector<float>()
          .at(0);
  EXPECT_EQ(got, static_cast<float>((k - 1) * 255 * 127 + 255));
}

TEST_F(QuantizedSums, weights_take_on_the_device_what_they_take_in_the_file) {
  constexpr std::int64_t bytes = 64 * 64 * 9 + 64 * 64;
  const Graph graph = GraphText::parse(
      "in x float[1,64,6,6]\nconst s float[] = 0.0625\nconst z int8[] = 0\nconst w int8[64,64,3,3] "
      "=" +
          list(std::int64_t{64} * 64 * 9) +
          "\nconst ws float[] = 0.0009765625\nconst m int8[64,64] =" + list(std::int64_t{64} * 64) +
          R"(
    const b float[64] = 1
    q = QuantizeLinear(x, s, z)
    d = DequantizeLinear(q, s, z)
    dw = DequantizeLinear(w, ws, z)
    c = Conv(d, dw, b) {pads: [1,1,1,1]}
    a = Add(c, d)
    r = Relu(a)
    rq = QuantizeLinear(r, s, z)
    rd = DequantizeLinear(rq, s, z)
    g = ReduceMean(rd) {axes: [2,3], keepdims: 0}
    gq = QuantizeLinear(g, s, z)
    gd = DequantizeLinear(gq, s, z)
    dm = DequantizeLinear(m, ws, z)
    y = MatMul(gd, dm)
    out y
  )",
      13);
  const auto held = [&](const std::vector<std::string>& without) {
    const Model model = load(file_of(graph), {.device = device_, .without = without});
    EXPECT_EQ(model.run({{"x", some(graph.inputs[0].type)}}).get().at("y").shape(), (Shape{1, 64}));
    return model.stats().weight_bytes;
  };
  EXPECT_LE(held({}), bytes * 13 / 10);
  EXPECT_GE(held({"quantized_sums", "quantized_weights"}), bytes * 39 / 10);
}

}  // namespace
}  // namespace stoker::onnx
