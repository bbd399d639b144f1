// Passes that take away what changes nothing. They keep every bit.
#include "stoker/tests/onnx/passes/pass_test.hpp"

namespace stoker::onnx {
namespace {

using Cleaning = PassTest;

TEST_F(Cleaning, what_no_output_needs_goes) {
  const Graph graph = GraphText::parse(R"(
    in x float[3]
    in given float[1] = 4
    const used float[1] = 2
    const unused float[1] = 3
    y = Add(x, used)
    a = Mul(x, unused)
    b, c = TopK(a, unused)
    out y
  )",
                                       opset);
  const Graph after = rewritten(graph, {});
  EXPECT_EQ(GraphText::print(after, graph), "y = Add(x, used)\n");
  ASSERT_EQ(after.initializers.size(), 2U);  // an input's initializer stays
  EXPECT_EQ(after.initializers[0].name, "given");
  EXPECT_EQ(after.initializers[1].name, "used");
}

TEST_F(Cleaning, a_node_with_one_result_that_is_read_stays) {
  const char* const graph = R"(
    in x float[4]
    const k int64[1] = 2
    values, places = TopK(x, k)
    out places
  )";
  expect_left("dead_nodes", graph);
}

TEST_F(Cleaning, equal_nodes_are_one) {
  expect("equal_nodes", R"(
    in x float[2,3]
    const minus int64[1] = -1
    const last int64[1] = -1
    a = ReduceSum(x, minus) {keepdims: 1, noop_with_empty_axes: 0}
    b = ReduceSum(x, last) {noop_with_empty_axes: 0, keepdims: 1}
    y = Mul(a, b)
    out y
  )",
         "a = ReduceSum(x, minus) {keepdims: 1, noop_with_empty_axes: 0}\ny = Mul(a, a)\n");
}

TEST_F(Cleaning, of_equal_nodes_the_one_with_the_outputs_name_stays) {
  expect("equal_nodes", R"(
    in x float[3]
    a = Relu(x)
    b = Relu(x)
    z = Neg(a)
    out b z
  )",
         "b = Relu(x)\nz = Neg(b)\n");
}

TEST_F(Cleaning, two_outputs_stay_two) {
  expect_left("equal_nodes", R"(
    in x float[3]
    a = Relu(x)
    b = Relu(x)
    out a b
  )");
}

TEST_F(Cleaning, nodes_that_differ_in_an_attribute_or_are_random_are_not_equal) {
  expect_left("equal_nodes", R"(
    in x float[3]
    a = LeakyRelu(x) {alpha: 0.5}
    b = LeakyRelu(x) {alpha: 0.25}
    c = RandomUniformLike(x)
    d = RandomUniformLike(x)
    y = Sum(a, b, c, d)
    out y
  )");
}

TEST_F(Cleaning, identity_gives_way) {
  expect("identity", R"(
    in x float[3]
    a = Identity(x)
    b = Relu(a)
    c = Sum(b)
    y = Identity(c)
    out y
  )",
         "y = Relu(x)\n");
}

TEST_F(Cleaning, an_input_that_is_an_output_keeps_its_identity) {
  expect_left("identity", R"(
    in x float[3]
    y = Identity(x)
    out y
  )");
}

TEST_F(Cleaning, two_names_of_one_output_stay) {
  expect("identity", R"(
    in x float[3]
    a = Relu(x)
    y = Identity(a)
    z = Identity(a)
    out y z
  )",
         "y = Relu(x)\nz = Identity(y)\n");
}

TEST_F(Cleaning, dropout_that_does_not_train_gives_way) {
  expect("dropout", R"(
    in x float[3]
    const ratio float[] = 0.5
    const no bool[] = 0
    a, mask = Dropout(x, ratio, no)
    y = Neg(a)
    out y
  )",
         "y = Neg(x)\n");
  opset = 10;
  expect("dropout", R"(
    in x float[3]
    a = Dropout(x) {ratio: 0.5}
    y = Neg(a)
    out y
  )",
         "y = Neg(x)\n");
}

TEST_F(Cleaning, dropout_that_trains_or_whose_mask_is_read_stays) {
  expect_left("dropout", R"(
    in x float[3]
    const ratio float[] = 0.5
    const yes bool[] = 1
    a = Dropout(x, ratio, yes)
    b, mask = Dropout(x, ratio)
    y = Add(a, b)
    out y mask
  )");
  opset = 6;  // trains unless it says that it tests
  expect_left("dropout", R"(
    in x float[3]
    y = Dropout(x)
    out y
  )");
}

TEST_F(Cleaning, casts_there_and_back_go) {
  expect("cast_pairs", R"(
    in x float16[3]
    in k int32[3]
    a = Cast(x) {to: 1}
    b = Cast(a) {to: 10}
    y = Neg(b)
    c = Cast(k) {to: 7}
    d = Cast(c) {to: 1}
    z = Neg(d)
    out y z
  )",
         "y = Neg(x)\nd = Cast(k) {to: 1}\nz = Neg(d)\n");
}

TEST_F(Cleaning, a_cast_to_the_type_that_an_operator_gives_goes) {
  expect("cast_pairs", R"(
    in x float[2,3]
    a = ArgMax(x) {axis: 1}
    y = Cast(a) {to: 7}
    b = IsNaN(x)
    z = Cast(b) {to: 9}
    out y z
  )",
         "y = ArgMax(x) {axis: 1}\nz = IsNaN(x)\n");
}

TEST_F(Cleaning, a_cast_to_a_type_without_every_value_stays) {
  expect_left("cast_pairs", R"(
    in x float[3]
    in k int64[3]
    a = Cast(x) {to: 10}
    y = Cast(a) {to: 1}
    b = Cast(k) {to: 1}
    z = Cast(b) {to: 7}
    c = Cast(x) {to: 9}
    w = Cast(c) {to: 1}
    out y z w
  )");
}

TEST_F(Cleaning, transposes_are_joined_or_cancel) {
  expect("transpose_pairs", R"(
    in x float[2,3,4]
    a = Transpose(x) {perm: [0,2,1]}
    b = Transpose(a) {perm: [0,2,1]}
    y = Neg(b)
    c = Transpose(x) {perm: [1,2,0]}
    d = Transpose(c)
    z = Neg(d)
    out y z
  )",
         "y = Neg(x)\nd = Transpose(x) {perm: [0,2,1]}\nz = Neg(d)\n");
  expect("transpose_pairs", R"(
    in x float[2,3]
    a = Transpose(x)
    b = Transpose(a)
    y = Neg(b)
    out y
  )",
         "y = Neg(x)\n");
}

TEST_F(Cleaning, a_transpose_that_moves_axes_stays) {
  expect_left("transpose_pairs", R"(
    in x float[2,3,4]
    a = Transpose(x) {perm: [0,2,1]}
    y = Neg(a)
    out y
  )");
}

TEST_F(Cleaning, transposes_that_a_run_refuses_stay_refused) {
  const Graph graph = GraphText::parse(R"(
    in x float[1,2,4,4]
    a = Transpose(x) {perm: [0,2,1]}
    y = Transpose(a) {perm: [0,2,1]}
    out y
  )",
                                       opset);
  EXPECT_EQ(GraphText::print(rewritten(graph, {"transpose_pairs"}), graph),
            GraphText::print(graph, graph));
}

TEST_F(Cleaning, of_shapes_given_twice_the_last_counts) {
  expect("reshape_pairs", R"(
    in x float[2,3,4]
    const first int64[2] = 6 4
    const second int64[2] = -1 8
    const axis int64[1] = 0
    a = Reshape(x, first)
    y = Reshape(a, second)
    b = Unsqueeze(x, axis)
    c = Squeeze(b, axis)
    z = Neg(c)
    out y z
  )",
         "y = Reshape(x, second)\nz = Neg(x)\n");
  opset = 11;
  expect("reshape_pairs", R"(
    in x float[2,3,4]
    const second int64[2] = -1 8
    a = Flatten(x) {axis: 1}
    y = Reshape(a, second)
    b = Unsqueeze(x) {axes: [0]}
    c = Squeeze(b) {axes: [0]}
    z = Neg(c)
    out y z
  )",
         "y = Reshape(x, second)\nz = Neg(x)\n");
}

TEST_F(Cleaning, a_shape_that_takes_extents_from_its_operand_stays) {
  expect_left("reshape_pairs", R"(
    in x float[2,3,4]
    const first int64[2] = 6 4
    const second int64[3] = 0 2 2
    const zero int64[1] = 0
    const one int64[1] = 1
    a = Reshape(x, first)
    y = Reshape(a, second)
    b = Unsqueeze(x, zero)
    z = Squeeze(b, one)
    out y z
  )");
}

TEST_F(Cleaning, a_join_of_all_parts_is_the_whole) {
  expect("split_concat", R"(
    in x float[2,6]
    const sizes int64[2] = 2 4
    a, b = Split(x, sizes) {axis: 1}
    c = Concat(a, b) {axis: 1}
    y = Neg(c)
    out y
  )",
         "y = Neg(x)\n");
  opset = 11;
  expect("split_concat", R"(
    in x float[2,6]
    a, b = Split(x) {axis: 1, split: [2,4]}
    c = Concat(a, b) {axis: 1}
    y = Neg(c)
    out y
  )",
         "y = Neg(x)\n");
}

TEST_F(Cleaning, a_join_in_another_order_or_along_another_axis_stays) {
  expect_left("split_concat", R"(
    in x float[4,6]
    a, b = Split(x) {axis: 1, num_outputs: 2}
    y = Concat(b, a) {axis: 1}
    z = Concat(a, b) {axis: 0}
    w = Concat(a, a) {axis: 1}
    out y z w
  )");
}

TEST_F(Cleaning, parts_of_a_join_are_what_it_joins) {
  // The convolutions' channels and the input's shape say how long the operands are.
  expect("split_concat", R"(
    in x float[batch,2,3,3]
    const v float[1,2,1,1] = 2 3
    const w float[3,2,1,1] = 1 2 3 4 5 6
    const sizes int64[3] = 1 3 2
    p = Conv(x, v)
    q = Conv(x, w)
    r = Relu(q)
    j = Concat(p, r, x) {axis: 1}
    a, b, c = Split(j, sizes) {axis: 1}
    s = Neg(a)
    t = Neg(b)
    u = Neg(c)
    out s t u
  )",
         "p = Conv(x, v)\nq = Conv(x, w)\nr = Relu(q)\ns = Neg(p)\nt = Neg(r)\nu = Neg(x)\n");
  // Equal parts, as version 18 writes them. The join stays because z reads it.
  expect("split_concat", R"(
    in x float[batch,2]
    const w float[2,4] = 1 2 3 4 5 6 7 8
    const v float[4,2] = 1 2 3 4 5 6 7 8
    p = MatMul(x, w)
    q = Gemm(x, v) {transB: 1}
    j = Concat(p, q) {axis: -1}
    a, b = Split(j) {axis: -1, num_outputs: 2}
    y = Sub(a, b)
    z = Neg(j)
    out y z
  )",
         "p = MatMul(x, w)\nq = Gemm(x, v) {transB: 1}\nj = Concat(p, q) {axis: -1}\n"
         "y = Sub(p, q)\nz = Neg(j)\n");
  opset = 11;
  expect("split_concat", R"(
    in x float[2,2]
    in z float[4,2]
    j = Concat(x, z) {axis: 0}
    a, b = Split(j) {axis: 0, split: [2,4]}
    y = Neg(a)
    w = Neg(b)
    out y w
  )",
         "y = Neg(x)\nw = Neg(z)\n");
}

TEST_F(Cleaning, parts_of_another_length_or_of_one_that_is_not_certain_stay) {
  expect_left("split_concat", R"(
    in x float[2,2]
    in z float[4,2]
    in u float[n,2]
    const sizes int64[2] = 3 3
    const certain int64[2] = 2 2
    j = Concat(x, z) {axis: 0}
    a, b = Split(j, sizes) {axis: 0}
    c, d = Split(j) {axis: 1, num_outputs: 2}
    e, f, g = Split(j) {axis: 0, num_outputs: 3}
    k = Concat(x, u) {axis: 0}
    h, i = Split(k, certain) {axis: 0}
    l = Concat(x, x) {axis: 0}
    m, n = Split(l, certain) {axis: 0}
    y = Sum(a, b)
    w = Sum(c, d)
    v = Sum(e, f, g)
    t = Sum(h, i)
    out y w v t m n
  )");
}

TEST_F(Cleaning, relu_and_clip_are_one) {
  expect("relu_clip", R"(
    in x float[9]
    const six float[] = 6
    const two float[] = -1
    const one float[] = 1
    a = Relu(x)
    b = Relu(a)
    c = Clip(b, , six)
    d = Clip(x, two, one)
    e = Relu(d)
    y = Add(c, e)
    out y
  )",
         "const c.1 float[] = 0\nconst e.1 float[] = 0\nc = Clip(x, c.1, six)\ne = Clip(x, e.1, "
         "one)\ny = Add(c, e)\n");
  opset = 9;
  expect("relu_clip", R"(
    in x float[9]
    a = Relu(x)
    y = Clip(a) {min: -1.0, max: 6.0}
    out y
  )",
         "y = Clip(x) {min: 0.0, max: 6.0}\n");
}

TEST_F(Cleaning, clips_that_leave_nothing_between_them_stay) {
  expect_left("relu_clip", R"(
    in x float[9]
    in bound float[]
    const low float[] = -3
    const high float[] = -1
    a = Clip(x, low, high)
    y = Relu(a)
    b = Clip(x, bound)
    z = Relu(b)
    out y z
  )");
}

TEST_F(Cleaning, a_bound_that_nothing_reaches_stays_a_bound) {
  const Graph graph = GraphText::parse(R"(
    in x float[9]
    const low float[] = inf
    a = Clip(x, low)
    b = Relu(a)
    y = Add(a, b)
    out y
  )",
                                       opset);
  EXPECT_EQ(GraphText::print(rewritten(graph, {"relu_clip"}), graph),
            "a = Clip(x, low)\nb = Clip(x, low, )\ny = Add(a, b)\n");
}

TEST_F(Cleaning, a_cast_that_wraps_or_shows_another_type_stays) {
  // 200 as a float becomes 127, as an integer -56; a text shows the digits of the type between.
  expect_left("cast_pairs", R"(
    in x uint8[3]
    in k int32[3]
    in r float[3]
    a = Cast(x) {to: 1}
    y = Cast(a) {to: 3}
    b = Cast(k) {to: 11}
    z = Cast(b) {to: 2}
    c = Cast(r) {to: 11}
    w = Cast(c) {to: 8}
    out y z w
  )");
}

}  // namespace
}  // namespace stoker::onnx
