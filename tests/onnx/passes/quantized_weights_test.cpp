// The pass that leaves weights packed which a DequantizeLinear would make floats of.
#include "stoker/tests/onnx/passes/pass_test.hpp"

namespace stoker::onnx {
namespace {

class QuantizedWeights : public PassTest {
 protected:
  /// A constant of numbers in [low, high], all of which come in turn.
  static std::string constant(const std::string& name, const std::string& type,
                              std::int64_t elements, int low, int high) {
    std::string text = "const " + name + ' ' + type + " =";
    for (std::int64_t i = 0; i < elements; ++i)
      text += ' ' + std::to_string(low + (i * 7 + i / 5) % (high - low + 1));
    return text + '\n';
  }
  static std::string scales(const std::string& type, std::int64_t elements) {
    std::string text = "const s " + type + " =";
    for (std::int64_t i = 0; i < elements; ++i) text += i % 3 == 0 ? " 0.5" : " 0.125";
    return text + '\n';
  }
};

TEST_F(QuantizedWeights, blocks_of_4_bits_before_a_product) {
  const std::string scale = scales("float[3,3]", 9);
  const std::string rest = R"(
    d = DequantizeLinear(w, s, z) {axis: 0, block_size: 16}
    y = MatMul(x, d)
    out y
  )";
  const std::string after = "y = DequantizedMatMul(x, w, s, z) {block_size: 16}\n";
  for (const std::string rows : {"1", "n", "19", "2,3"}) {
    const std::string x = "in x float[" + rows + ",40]\n";
    expect("quantized_weights",
           x + constant("w", "int4[40,3]", 120, -8, 7) + scale +
               constant("z", "int4[3,3]", 9, -3, 4) + rest,
           after);
    expect("quantized_weights",
           x + constant("w", "uint4[40,3]", 120, 0, 15) + scale +
               constant("z", "uint4[3,3]", 9, 0, 15) + rest,
           after);
  }
}

TEST_F(QuantizedWeights, zero_points_may_be_left_out) {
  for (const auto& [type, low, high] :
       {std::tuple{"int4", -8, 7}, {"uint4", 0, 15}, {"int8", -128, 127}, {"uint8", 0, 255}})
    expect("quantized_weights",
           "in x float[2,32]\n" + constant("w", std::string{type} + "[32,5]", 160, low, high) +
               scales("float[2,5]", 10) + R"(
    d = DequantizeLinear(w, s) {axis: -2, block_size: 16}
    y = MatMul(x, d)
    out y
  )",
           "y = DequantizedMatMul(x, w, s) {block_size: 16}\n");
}

TEST_F(QuantizedWeights, one_scale_for_all_or_for_each_column) {
  expect("quantized_weights", "in x float[2,21]\n" + constant("w", "int4[21,3]", 63, -8, 7) + R"(
    const s float[] = 0.25
    const z int4[] = -2
    d = DequantizeLinear(w, s, z)
    y = MatMul(x, d)
    out y
  )",
         "y = DequantizedMatMul(x, w, s, z)\n");
  expect("quantized_weights",
         "in x float[2,21]\n" + constant("w", "uint4[21,3]", 63, 0, 15) + scales("float[3]", 3) +
             R"(
    const z uint4[3] = 1 9 15
    d = DequantizeLinear(w, s, z) {axis: 1}
    y = MatMul(x, d)
    out y
  )",
         "y = DequantizedMatMul(x, w, s, z)\n");
}

TEST_F(QuantizedWeights, a_number_and_a_vector_of_one_say_the_same) {
  for (const auto& [scale, zero] : {std::pair{"[]", "[1]"}, {"[1]", "[]"}, {"[1]", "[1]"}})
    expect("quantized_weights",
           "in x float[2,16]\n" + constant("w", "uint8[16,3]", 48, 0, 255) + "const s float" +
               scale + " = 0.25\nconst z uint8" + zero + R"( = 7
    d = DequantizeLinear(w, s, z)
    y = MatMul(x, d)
    out y
  )",
           "y = DequantizedMatMul(x, w, s, z)\n");
}

TEST_F(QuantizedWeights, gemm_with_a_bias_and_columns_that_lie_together) {
  expect("quantized_weights",
         "in x float[3,48]\n" + constant("w", "int4[5,48]", 240, -8, 7) + scales("float[5,3]", 15) +
             constant("z", "int4[5,3]", 15, -8, 7) + R"(
    const c float[5] = 1 2 3 4 5
    d = DequantizeLinear(w, s, z) {axis: 1, block_size: 16}
    y = Gemm(x, d, c) {transB: 1}
    out y
  )",
         "y = DequantizedMatMul(x, w, s, z, c) {block_size: 16, transposed: 1}\n");
  expect("quantized_weights", "in x float[3,16]\n" + constant("w", "uint8[2,16]", 32, 0, 255) + R"(
    const s float[2] = 0.25 0.5
    d = DequantizeLinear(w, s) {axis: 0}
    y = Gemm(x, d) {transB: 1}
    out y
  )",
         "y = DequantizedMatMul(x, w, s) {transposed: 1}\n");
  expect("quantized_weights", "in x float[3,16]\n" + constant("w", "int4[16,2]", 32, -8, 7) + R"(
    const s float[] = 0.25
    const c float[2] = 1 2
    d = DequantizeLinear(w, s)
    y = Gemm(x, d, c)
    out y
  )",
         "y = DequantizedMatMul(x, w, s, , c)\n");
}

TEST_F(QuantizedWeights, weights_that_others_read_as_floats_stay_for_them) {
  expect("quantized_weights", "in x float[1,16]\n" + constant("w", "int4[16,2]", 32, -8, 7) + R"(
    const s float[] = 0.25
    d = DequantizeLinear(w, s)
    y = MatMul(x, d)
    e = Neg(d)
    out y e
  )",
         "d = DequantizeLinear(w, s)\ny = DequantizedMatMul(x, w, s)\ne = Neg(d)\n");
}

TEST_F(QuantizedWeights, products_that_are_nearly_such_stay) {
  const std::string begin = "in x float[2,32]\nin u float[32,2]\nin free float[]\n" +
                            constant("w", "int4[32,2]", 64, -8, 7) + R"(
    const wide int16[32,2] = 3
    const one float[] = 0.25
    const rows float[32] = 0.25
    const s float[2,2] = 0.25
    const four float[4,2] = 0.25
    const along float[32,1] = 0.25
    const z int4[2,2] = 1
  )";
  const auto left = [&](const std::string& rest) {
    SCOPED_TRACE(rest);
    expect_left("quantized_weights", begin + rest + "\nout y");
  };
  left("d = DequantizeLinear(w, free)\ny = MatMul(x, d)");
  left("d = DequantizeLinear(wide, one)\ny = MatMul(x, d)");
  left("d = DequantizeLinear(w, rows) {axis: 0}\ny = MatMul(x, d)");
  left("d = DequantizeLinear(w, four) {axis: 0, block_size: 8}\ny = MatMul(x, d)");
  left("d = DequantizeLinear(w, along) {axis: 1, block_size: 16}\ny = MatMul(x, d)");
  left("d = DequantizeLinear(w, s) {axis: 0, block_size: 16}\ny = MatMul(d, x)");
  left("d = DequantizeLinear(w, one)\ny = Gemm(u, d) {transA: 1}");
  left("d = DequantizeLinear(w, one)\ny = Gemm(x, d) {alpha: 0.5}");
  left("d = DequantizeLinear(w, one)\ny = Gemm(x, d, one) {beta: 0.5}");
}

TEST_F(QuantizedWeights, what_they_multiply_may_stand_for_integers) {
  const std::string text = "in x float[1,16]\n" + constant("w", "int8[16,2]", 32, -8, 7) + R"(
    const s float[] = 0.25
    q = QuantizeLinear(x, s)
    d = DequantizeLinear(q, s)
    dw = DequantizeLinear(w, s)
    y = MatMul(d, dw)
    out y
  )";
  expect("quantized_weights", text,
         "q = QuantizeLinear(x, s)\nd = DequantizeLinear(q, s)\n"
         "y = DequantizedMatMul(d, w, s)\n");
}

TEST_F(QuantizedWeights, stay_packed_on_the_device) {
  constexpr std::int64_t k = 256, n = 64, block = 32;
  const Graph graph = GraphText::parse(
      "in x float[m,256]\n" + constant("w", "int4[256,64]", k * n, -8, 7) +
          scales("float[8,64]", k / block * n) +
          "d = DequantizeLinear(w, s) {axis: 0, block_size: 32}\ny = MatMul(x, d)\nout y",
      opset);
  constexpr std::uint64_t in_file = k * n / 2 + k / block * n * sizeof(float);
  const auto held = [&](const LoadOptions& options) {
    const Model model = load(file_of(graph), options);
    EXPECT_EQ(model.run({{"x", ones({3, k})}}).get().at("y").shape(), (Shape{3, n}));
    return model.stats().weight_bytes;
  };
  EXPECT_LE(held(here()), in_file * 13 / 10);
  EXPECT_GE(held({.device = device_, .without = {"quantized_weights"}}), k * n)
      << "a byte for each number, or more";
}

}  // namespace
}  // namespace stoker::onnx
