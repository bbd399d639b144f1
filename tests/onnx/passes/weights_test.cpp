// Passes that write into the weights and attributes of convolutions, products and pools.
#include "stoker/tests/onnx/passes/pass_test.hpp"

namespace stoker::onnx {
namespace {

using Weights = PassTest;

TEST_F(Weights, batch_norm_goes_into_a_convolution) {
  expect("batch_norm", R"(
    in x float[1,1,3,3]
    const w float[2,1,1,1] = 1 2
    const scale float[2] = 3 4
    const bias float[2] = 1 2
    const mean float[2] = 5 6
    const var float[2] = 2.25 0.25
    c = Conv(x, w)
    y = BatchNormalization(c, scale, bias, mean, var) {epsilon: 0.0}
    out y
  )",
         "const w.1 float[2] = -9 -46\nconst w.2 float[2,1,1,1] = 2 16\ny = Conv(x, w.2, w.1)\n");
}

TEST_F(Weights, batch_norm_goes_into_deconvolutions_of_groups_and_into_products) {
  expect("batch_norm", R"(
    in x float[1,4,3,3]
    const w float[4,2,2,1] = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
    const b float[4] = 1 2 3 4
    const scale float[4] = 1 2 3 4
    const bias float[4] = 0.5
    const mean float[4] = 2 0 1 3
    const var float[4] = 1 2 3 4
    c = ConvTranspose(x, w, b) {group: 2, strides: [2,1]}
    y = BatchNormalization(c, scale, bias, mean, var)
    out y
  )",
         "const b.1 float[4] = -0.499995 3.32842 3.9641 2.5\nconst w.1 float[4,2,2,1]\n"
         "y = ConvTranspose(x, w.1, b.1) {group: 2, strides: [2,1]}\n");
  expect("batch_norm", R"(
    in x float[3,2]
    const w float[3,2] = 1 2 3 4 5 6
    const b float[1] = 2
    const scale float[3] = 1 2 3
    const bias float[3] = 0.5
    const mean float[3] = 2 0 1
    const var float[3] = 1
    c = Gemm(x, w, b) {transB: 1, beta: 0.5, alpha: 2.0}
    y = BatchNormalization(c, scale, bias, mean, var) {epsilon: 0.0}
    out y
  )",
         "const b.1 float[3] = -0.5 2.5 0.5\nconst w.1 float[3,2] = 1 2 6 8 15 18\n"
         "y = Gemm(x, w.1, b.1) {transB: 1, alpha: 2.0}\n");
  expect("batch_norm", R"(
    in x float[n,2]
    const w float[2,2] = 1 2 3 4
    const scale float[2] = 1 2
    const bias float[2] = 0.5
    const mean float[2] = 2 0
    const var float[2] = 1
    c = MatMul(x, w)
    y = BatchNormalization(c, scale, bias, mean, var) {epsilon: 0.0}
    out y
  )",
         "const w.1 float[2,2] = 1 4 3 8\nconst bias.1 float[2] = -1.5 0.5\nc = MatMul(x, w.1)\ny "
         "= Add(c, bias.1)\n");
}

TEST_F(Weights,
       batch_norm_stays_where_the_convolution_is_read_elsewhere_or_numbers_are_not_constant) {
  expect_left("batch_norm", R"(
    in x float[1,1,3,3]
    in bias float[2]
    const w float[2,1,1,1] = 1 2
    const scale float[2] = 3 4
    const mean float[2] = 5 6
    const var float[2] = 2.25 0.25
    c = Conv(x, w)
    d = BatchNormalization(c, scale, scale, mean, var)
    e = Conv(x, w)
    y = BatchNormalization(e, scale, bias, mean, var)
    z = Add(c, d)
    out y z
  )");
  // The channels of [a, m, n] are m, the columns of the product are n.
  expect_left("batch_norm", R"(
    in x float[1,2,2]
    const w float[2,2] = 1 2 3 4
    const scale float[2] = 1 2
    const var float[2] = 1
    c = MatMul(x, w)
    y = BatchNormalization(c, scale, scale, scale, var)
    out y
  )");
}

TEST_F(Weights, a_variance_below_zero_is_left_to_the_run) {
  expect_left("batch_norm", R"(
    in x float[1,1,3,3]
    const w float[1,1,1,1] = 1
    const scale float[1] = 3
    const var float[1] = -1
    c = Conv(x, w)
    y = BatchNormalization(c, scale, scale, scale, var)
    out y
  )");
}

TEST_F(Weights, weights_that_others_need_are_not_copied_where_they_are_many) {
  const std::string graph = R"(
    in x float[1,64,4,4]
    const w float[64,64,1,1] = 0.125
    const scale float[64] = 3
    const var float[64] = 1
    c = Conv(x, w)
    y = BatchNormalization(c, scale, scale, scale, var)
    z = Conv(x, w)
    out y z
  )";
  expect_left("batch_norm", graph);
}

TEST_F(Weights, scales_and_shifts_of_channels_go_into_weights_and_bias) {
  expect("scale_shift", R"(
    in x float[1,1,3,3]
    const w float[2,1,1,1] = 1 2
    const scale float[2,1,1] = 3 4
    const shift float[1,2,1,1] = 5 6
    const half float[] = 0.5
    const one float[1] = 1
    c = Conv(x, w)
    d = Mul(c, scale)
    e = Add(shift, d)
    f = Div(e, half)
    y = Sub(one, f)
    out y
  )",
         "const w.5 float[2] = -9 -11\nconst w.6 float[2,1,1,1] = -6 -16\n"
         "y = Conv(x, w.6, w.5)\n");
}

TEST_F(Weights, scales_go_into_products) {
  expect("scale_shift", R"(
    in x float[3,2]
    const w float[2,2] = 1 2 3 4
    const v float[2,2] = 1 2 3 4
    const scale float[2] = 2 10
    a = Gemm(x, w)
    b = Add(a, scale)
    y = Mul(b, scale)
    c = MatMul(x, v)
    d = Div(c, scale)
    z = Add(d, scale)
    out y z
  )",
         "const w.2 float[2] = 4 100\nconst w.3 float[2,2] = 2 20 6 40\n"
         "const v.1 float[2,2] = 0.5 0.2 1.5 0.4\n"
         "y = Gemm(x, w.3, w.2)\nc = MatMul(x, v.1)\nz = Add(c, scale)\n");
}

TEST_F(Weights, a_constant_along_other_axes_stays) {
  expect_left("scale_shift", R"(
    in x float[2,1,2,2]
    const w float[2,1,1,1] = 1 2
    const columns float[2] = 3 4
    const rows float[2,1,1,1] = 3 4
    const two float[1,1,1,1,1] = 2
    c = Conv(x, w)
    a = Mul(c, columns)
    d = Conv(x, w)
    b = Add(d, rows)
    e = Conv(x, w)
    f = Div(two, e)
    y = Sum(a, b, f)
    out y
  )");
}

TEST_F(Weights, zeros_around_a_convolution_are_its_padding) {
  expect("pad", R"(
    in x float[1,1,3,3]
    const w float[1,1,2,2] = 1 2 3 4
    const around int64[8] = 0 0 1 0 0 0 2 1
    p = Pad(x, around)
    y = Conv(p, w) {pads: [0,1,0,0], strides: [2,1]}
    out y
  )",
         "y = Conv(x, w) {pads: [1,1,2,1], strides: [2,1]}\n");
  opset = 9;
  expect("pad", R"(
    in x float[1,1,3,3]
    const w float[1,1,2,2] = 1 2 3 4
    p = Pad(x) {mode: "constant", pads: [0,0,1,1,0,0,1,1]}
    y = Conv(p, w) {auto_pad: "VALID"}
    out y
  )",
         "y = Conv(x, w) {pads: [1,1,1,1]}\n");
}

TEST_F(Weights, padding_of_pools_counts_as_before) {
  expect("pad", R"(
    in x float[1,1,3,3]
    const around int64[8] = 0 0 1 1 0 0 1 1
    const least float[] = -inf
    p = Pad(x, around)
    y = AveragePool(p) {kernel_shape: [2,2]}
    q = Pad(x, around, least)
    z = MaxPool(q) {kernel_shape: [2,2]}
    out y z
  )",
         "y = AveragePool(x) {kernel_shape: [2,2], pads: [1,1,1,1], count_include_pad: 1}\n"
         "z = MaxPool(x) {kernel_shape: [2,2], pads: [1,1,1,1]}\n");
}

TEST_F(Weights, padding_that_an_operator_does_not_do_stays) {
  expect_left("pad", R"(
    in x float[1,1,4,4]
    const w float[1,1,2,2] = 1 2 3 4
    const around int64[8] = 0 0 1 1 0 0 1 1
    const channels int64[8] = 0 0 1 1 0 1 1 1
    const one float[] = 1
    a = Pad(x, around, one)
    y = Conv(a, w)
    b = Pad(x, around) {mode: "reflect"}
    z = Conv(b, w)
    c = Pad(x, around)
    u = MaxPool(c) {kernel_shape: [2,2]}
    d = Pad(x, around)
    v = AveragePool(d) {kernel_shape: [2,2], ceil_mode: 1, strides: [2,2]}
    e = Pad(x, around)
    s = AveragePool(e) {kernel_shape: [2,2], pads: [1,1,1,1]}
    f = Pad(x, channels)
    t = AveragePool(f) {kernel_shape: [2,2]}
    out y z u v s t
  )");
}

TEST_F(Weights, queries_keys_and_values_are_one_product) {
  expect("joined_products", R"(
    in x float[2,3,2]
    const q float[2,2] = 1 2 3 4
    const k float[2,2] = 5 6 7 8
    const v float[2,1] = 9 10
    a = MatMul(x, q)
    b = MatMul(x, k)
    c = MatMul(x, v)
    d = Mul(a, b)
    y = Add(d, c)
    out y
  )",
         "const q.1 float[2,5]\nconst q.2 int64[3] = 2 2 1\na.1 = MatMul(x, q.1)\n"
         "a, b, c = Split(a.1, q.2) {axis: -1}\nd = Mul(a, b)\ny = Add(d, c)\n");
  expect("joined_products", R"(
    in x float[3,2]
    const q float[2,2] = 1 2 3 4
    const k float[2,2] = 5 6 7 8
    const v float[2,2] = 9 10 11 12
    const qb float[2] = 1 2
    const kb float[2] = 3 4
    const vb float[2] = 5 6
    a = MatMul(x, q)
    aa = Add(qb, a)
    b = MatMul(x, k)
    bb = Add(b, kb)
    d = Mul(aa, bb)
    c = MatMul(x, v)
    y = Add(c, vb)
    out d y
  )",
         "const q.1 float[2,6]\nconst q.2 float[6] = 1 2 3 4 5 6\nconst q.3 int64[3] = 2 2 2\n"
         "aa.1 = MatMul(x, q.1)\naa.2 = Add(aa.1, q.2)\naa, bb, y = Split(aa.2, q.3) {axis: -1}\nd "
         "= Mul(aa, bb)\n");
}

TEST_F(Weights, gemms_of_one_operand_are_one) {
  // As PyTorch writes linear layers: a row of weights for each output.
  expect("joined_products", R"(
    in x float[batch,2]
    const q float[2,2] = 1 2 3 4
    const k float[1,2] = 5 6
    const v float[2,2] = 7 8 9 10
    const qb float[2] = 1 2
    const kb float[1] = 3
    const vb float[2] = 5 6
    a = Gemm(x, q, qb) {alpha: 1.0, beta: 1.0, transB: 1}
    b = Gemm(x, k, kb) {transB: 1}
    c = Gemm(x, v, vb) {transB: 1}
    d = Mul(a, b)
    y = Add(d, c)
    out y
  )",
         "const q.1 float[5,2]\nconst q.2 float[5] = 1 2 3 5 6\nconst q.3 int64[3] = 2 1 2\n"
         "a.1 = Gemm(x, q.1, q.2) {transB: 1}\na, b, c = Split(a.1, q.3) {axis: -1}\n"
         "d = Mul(a, b)\ny = Add(d, c)\n");
  // As Keras writes them, with an Add behind.
  expect("joined_products", R"(
    in x float[batch,2]
    const q float[2,2] = 1 2 3 4
    const k float[2,1] = 5 6
    const v float[2,2] = 7 8 9 10
    const qb float[2] = 1 2
    const kb float[1] = 3
    const vb float[2] = 5 6
    a = Gemm(x, q)
    aa = Add(a, qb)
    b = Gemm(x, k)
    bb = Add(b, kb)
    c = Gemm(x, v, vb)
    d = Mul(aa, bb)
    y = Add(d, c)
    out y
  )",
         "const q.1 float[2,5]\nconst q.2 float[5] = 1 2 3 5 6\nconst q.3 int64[3] = 2 1 2\n"
         "aa.1 = Gemm(x, q.1, q.2)\naa, bb, c = Split(aa.1, q.3) {axis: -1}\n"
         "d = Mul(aa, bb)\ny = Add(d, c)\n");
}

TEST_F(Weights, products_of_many_weights_are_joined_where_it_pays) {
  constexpr const char* text = R"(
    in x float[2,64]
    const q float[64,96] = 1
    const k float[64,96] = 2
    const v float[64,96] = 3
    a = MatMul(x, q)
    b = MatMul(x, k)
    c = MatMul(x, v)
    y = Sum(a, b, c)
    out y
  )";
  expect_left("joined_products", text);
  const Graph graph = GraphText::parse(text, opset);
  const OperatorTable& operators = OperatorTable::standard();
  const auto on_gpu =
      optimized(file_of(graph), chosen_passes(Optimize::all, all_but({"joined_products"})),
                operators, node_evaluation(operators, device_), DeviceType::discrete_gpu);
  EXPECT_EQ(GraphText::print(on_gpu->graph, graph),
            "const q.1 float[64,288]\nconst q.2 int64[3] = 96 96 96\na.1 = MatMul(x, q.1)\n"
            "a, b, c = Split(a.1, q.2) {axis: -1}\ny = Sum(a, b, c)\n");
}

TEST_F(Weights, gemms_with_numbers_or_forms_of_their_own_stay) {
  expect_left("joined_products", R"(
    in x float[2,2]
    const q float[2,2] = 1 2 3 4
    const k float[2,2] = 5 6 7 8
    const v float[2,2] = 9 10 11 12
    const u float[2,2] = 13 14 15 16
    const row float[2] = 1 2
    const whole float[2,2] = 1 2 3 4
    const wide float[1] = 1
    a = Gemm(x, q, row) {transB: 1}
    b = Gemm(x, k, row)
    c = Gemm(x, v, row) {alpha: 2.0}
    d = Gemm(x, u, row) {transA: 1}
    const r float[2,2] = 1 2 3 4
    const s float[2,2] = 5 6 7 8
    const t float[2,2] = 9 10 11 12
    e = Gemm(x, r, row) {beta: 2.0}
    f = Gemm(x, s, whole)
    g = Gemm(x, t, wide)
    y = Sum(a, b, c, d, e, f, g)
    out y
  )");
}

TEST_F(Weights, products_of_other_operands_or_of_shared_weights_stay) {
  expect_left("joined_products", R"(
    in x float[3,2]
    in z float[3,2]
    const q float[2,2] = 1 2 3 4
    const k float[2,2] = 5 6 7 8
    const v float[2,2] = 9 10 11 12
    a = MatMul(x, q)
    b = MatMul(z, k)
    c = MatMul(x, v)
    d = MatMul(x, v)
    y = Sum(a, b, c, d)
    out y
  )");
}

TEST_F(Weights, biases_that_an_attribute_places_stay) {
  opset = 6;
  expect("joined_products", R"(
    in x float[2,3]
    const q float[3,2] = 1 2 3 4 5 6
    const k float[3,2] = 6 5 4 3 2 1
    const v float[3,2] = 1 1 2 2 3 3
    const qb float[2] = 1 2
    a = MatMul(x, q)
    b = MatMul(x, k)
    c = MatMul(x, v)
    aa = Add(a, qb) {broadcast: 1, axis: 0}
    bb = Add(b, qb) {broadcast: 1, axis: 0}
    cc = Add(c, qb) {broadcast: 1, axis: 0}
    out aa bb cc
  )",
         "const q.1 float[3,6]\nconst q.2 int64[3] = 2 2 2\na.1 = MatMul(x, q.1)\n"
         "a, b, c = Split(a.1, q.2) {axis: -1}\naa = Add(a, qb) {broadcast: 1, axis: 0}\n"
         "bb = Add(b, qb) {broadcast: 1, axis: 0}\ncc = Add(c, qb) {broadcast: 1, axis: 0}\n");
}

TEST_F(Weights, what_stays_besides_is_counted_as_well) {
  // Inputs with an initializer stay though nothing reads them.
  expect_left("joined_products", R"(
    in x float[2,64]
    in q float[64,64] = 1
    in k float[64,64] = 2
    in v float[64,64] = 3
    a = MatMul(x, q)
    b = MatMul(x, k)
    c = MatMul(x, v)
    y = Sum(a, b, c)
    out y
  )");
  // A bias is as large as these weights.
  expect_left("scale_shift", R"(
    in x float[1,1,1,1]
    const w float[4096,1,1,1] = 2
    const one float[] = 1
    c = Conv(x, w)
    y = Add(c, one)
    out y
  )");
}

TEST_F(Weights, a_body_does_not_replace_weights_of_the_graph_around_it) {
  const Graph body = GraphText::parse(R"(
    c = Conv(x, w)
    t = Mul(c, two)
    out t
  )",
                                      opset);
  Graph graph = GraphText::parse(R"(
    in x float[1,64,1,1]
    in yes bool[]
    const w float[64,64,1,1] = 0.125
    const two float[] = 2
    y = If(yes)
    out y
  )",
                                 opset);
  graph.nodes.back().attributes = {attribute("then_branch", std::make_shared<const Graph>(body)),
                                   attribute("else_branch", std::make_shared<const Graph>(body))};
  const Graph after = rewritten(graph, {"scale_shift"});
  EXPECT_EQ(after.nodes.back().graph("then_branch").nodes.size(), 2U);
}

TEST_F(Weights, weights_that_would_become_infinite_stay) {
  expect_left("scale_shift", R"(
    in x float[1,1,2,2]
    const w float[1,1,1,1] = 1e30
    const large float[] = 1e30
    c = Conv(x, w)
    y = Mul(c, large)
    out y
  )");
}

}  // namespace
}  // namespace stoker::onnx
