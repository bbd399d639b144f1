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
    r = Relu(c)
    y = QuantizeLinear(r, ys, yz)
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
  // A Relu that cuts off more than the type does.
  expect_left("quantized_products", begin + R"(
    dw = DequantizeLinear(w, s)
    c = MatMul(d, dw)
    r = Relu(c)
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

}  // namespace
}  // namespace stoker::onnx
