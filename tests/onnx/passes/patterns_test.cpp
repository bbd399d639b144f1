// Operators that exporters write out.
#include "stoker/tests/onnx/passes/pass_test.hpp"

namespace stoker::onnx {
namespace {

using Patterns = PassTest;

TEST_F(Patterns, gelu_with_erf_as_pytorch_writes_it) {
  expect("gelu", R"(
    in x float[3,4]
    const root float[] = 1.4142135381698608
    const one float[] = 1
    const half float[] = 0.5
    a = Div(x, root)
    b = Erf(a)
    c = Add(b, one)
    d = Mul(x, c)
    y = Mul(d, half)
    out y
  )",
         "y = Gelu(x)\n");
}

TEST_F(Patterns, gelu_with_erf_as_tensorflow_writes_it) {
  expect("gelu", R"(
    in x float[3,4]
    const root float[] = 0.70710677
    const one float[] = 1
    const half float[] = 0.5
    a = Mul(root, x)
    b = Erf(a)
    c = Add(one, b)
    d = Mul(half, x)
    y = Mul(d, c)
    out y
  )",
         "y = Gelu(x)\n");
}

TEST_F(Patterns, gelu_with_tanh_as_pytorch_and_as_tensorflow_write_it) {
  expect("gelu", R"(
    in x float[3,4]
    const half float[] = 0.5
    const three float[] = 3
    const cubic float[] = 0.044715
    const root float[] = 0.7978845834732056
    const one float[] = 1
    a = Mul(x, half)
    b = Pow(x, three)
    c = Mul(b, cubic)
    d = Add(x, c)
    e = Mul(d, root)
    f = Tanh(e)
    g = Add(f, one)
    y = Mul(a, g)
    out y
  )",
         "y = Gelu(x) {approximate: \"tanh\"}\n");
  expect("gelu", R"(
    in x float[3,4]
    const half float[] = 0.5
    const cubic float[] = 0.044715
    const root float[] = 0.797884583
    const one float[] = 1
    a = Mul(x, root)
    b = Mul(x, x)
    c = Mul(cubic, b)
    d = Add(c, one)
    e = Mul(a, d)
    f = Tanh(e)
    g = Add(one, f)
    h = Mul(half, g)
    y = Mul(x, h)
    out y
  )",
         "y = Gelu(x) {approximate: \"tanh\"}\n");
}

TEST_F(Patterns, what_is_nearly_gelu_stays) {
  expect_left("gelu", R"(
    in x float[3,4]
    in z float[3,4]
    const root float[] = 1.4142135381698608
    const other float[] = 1.5
    const one float[] = 1
    const half float[] = 0.5
    a = Div(x, other)
    b = Erf(a)
    c = Add(b, one)
    d = Mul(x, c)
    y = Mul(d, half)
    e = Div(x, root)
    f = Erf(e)
    g = Add(f, one)
    h = Mul(z, g)
    w = Mul(h, half)
    i = Div(x, root)
    j = Erf(i)
    k = Add(j, one)
    l = Mul(x, k)
    v = Mul(l, half)
    out y w v j
  )");
}

TEST_F(Patterns, swish) {
  expect("swish", R"(
    in x float[3,4]
    a = Sigmoid(x)
    y = Mul(x, a)
    out y
  )",
         "y = Swish(x) {alpha: 1.0}\n");
  expect("swish", R"(
    in x float[3,4]
    const alpha float[] = 1.5
    a = Mul(alpha, x)
    b = Sigmoid(a)
    y = Mul(b, x)
    out y
  )",
         "y = Swish(x) {alpha: 1.5}\n");
}

TEST_F(Patterns, a_gate_is_no_swish) {
  expect_left("swish", R"(
    in x float[3,4]
    in z float[3,4]
    const two float[1,1,1] = 2
    a = Sigmoid(x)
    y = Mul(z, a)
    b = Mul(x, two)
    c = Sigmoid(b)
    w = Mul(x, c)
    out y w
  )");
}

TEST_F(Patterns, hard_swish) {
  expect("hard_swish", R"(
    in x float[3,4]
    const three float[] = 3
    const zero float[] = 0
    const six float[] = 6
    a = Add(x, three)
    b = Clip(a, zero, six)
    c = Div(b, six)
    y = Mul(x, c)
    out y
  )",
         "y = HardSwish(x)\n");
  expect("hard_swish", R"(
    in x float[3,4]
    const three float[] = 3
    const six float[] = 6
    a = Add(x, three)
    b = Relu(a)
    c = Min(six, b)
    d = Mul(x, c)
    y = Div(d, six)
    out y
  )",
         "y = HardSwish(x)\n");
  expect("hard_swish", R"(
    in x float[3,4]
    a = HardSigmoid(x) {alpha: 0.16666667, beta: 0.5}
    y = Mul(a, x)
    out y
  )",
         "y = HardSwish(x)\n");
}

TEST_F(Patterns, what_is_nearly_hard_swish_stays) {
  expect_left("hard_swish", R"(
    in x float[3,4]
    const three float[] = 3
    const zero float[] = 0
    const five float[] = 5
    const six float[] = 6
    a = Add(x, three)
    b = Clip(a, zero, five)
    c = Div(b, six)
    y = Mul(x, c)
    d = HardSigmoid(x)
    z = Mul(d, x)
    raised = Add(x, three)
    e = Relu(raised)
    f = Min(e, five)
    g = Div(f, six)
    w = Mul(x, g)
    out y z w
  )");
  expect_left("hard_swish", R"(
    in x int64[4]
    const three int64[] = 3
    const six int64[] = 6
    raised = Add(x, three)
    a = Relu(raised)
    b = Min(a, six)
    c = Mul(x, b)
    y = Div(c, six)
    out y
  )");
}

TEST_F(Patterns, softmax) {
  expect("softmax", R"(
    in x float[3,4]
    const last int64[1] = -1
    a = ReduceMax(x, last)
    b = Sub(x, a)
    c = Exp(b)
    d = ReduceSum(c, last)
    y = Div(c, d)
    out y
  )",
         "y = Softmax(x) {axis: -1}\n");
  opset = 11;
  expect("softmax", R"(
    in x float[3,4]
    a = Exp(x)
    b = ReduceSum(a) {axes: [1], keepdims: 1}
    c = Reciprocal(b)
    y = Mul(a, c)
    out y
  )",
         "y = Softmax(x) {axis: 1}\n");
}

TEST_F(Patterns, what_is_nearly_softmax_stays) {
  expect_left("softmax", R"(
    in x float[4,4]
    const last int64[1] = -1
    const both int64[2] = 0 1
    a = Exp(x)
    b = ReduceSum(a, last) {keepdims: 0}
    y = Div(a, b)
    c = Exp(x)
    d = ReduceSum(c, both)
    z = Div(c, d)
    out y z
  )");
}

TEST_F(Patterns, layer_normalization_as_pytorch_writes_it) {
  opset = 17;
  expect("layer_norm", R"(
    in x float[2,3,4]
    const two float[] = 2
    const epsilon float[] = 0.00001
    const scale float[4] = 1 2 3 4
    const bias float[4] = 5 6 7 8
    a = ReduceMean(x) {axes: [-1]}
    b = Sub(x, a)
    c = Pow(b, two)
    d = ReduceMean(c) {axes: [-1]}
    e = Add(d, epsilon)
    f = Sqrt(e)
    g = Div(b, f)
    h = Mul(g, scale)
    y = Add(h, bias)
    out y
  )",
         "y = LayerNormalization(x, scale, bias) {axis: -1, epsilon: 1e-05}\n");
}

TEST_F(Patterns, layer_normalization_over_two_axes_with_reciprocals) {
  opset = 18;
  expect("layer_norm", R"(
    in x float[2,3,4]
    const axes int64[2] = 1 2
    const epsilon float[] = 0.001
    const scale float[3,4] = 1 2 3 4 5 6 7 8 9 10 11 12
    a = ReduceMean(x, axes)
    b = Sub(x, a)
    c = Mul(b, b)
    d = ReduceMean(c, axes)
    e = Add(epsilon, d)
    f = Sqrt(e)
    g = Reciprocal(f)
    h = Mul(b, g)
    y = Mul(scale, h)
    out y
  )",
         "y = LayerNormalization(x, scale) {axis: -2, epsilon: 0.001}\n");
}

TEST_F(Patterns, a_normalization_over_another_axis_or_by_another_mean_stays) {
  opset = 17;
  expect_left("layer_norm", R"(
    in x float[2,4,4]
    const two float[] = 2
    const epsilon float[] = 0.00001
    const scale float[4] = 1 2 3 4
    a = ReduceMean(x) {axes: [-1]}
    b = Sub(x, a)
    c = Pow(b, two)
    d = ReduceMean(c) {axes: [-2]}
    e = Add(d, epsilon)
    f = Sqrt(e)
    g = Div(b, f)
    y = Mul(g, scale)
    h = ReduceMax(x) {axes: [-1]}
    i = Sub(x, h)
    j = Pow(i, two)
    k = ReduceMean(j) {axes: [-1]}
    l = Add(k, epsilon)
    m = Sqrt(l)
    n = Div(i, m)
    z = Mul(n, scale)
    out y z
  )");
}

TEST_F(Patterns, rms_normalization) {
  opset = 17;
  expect("rms_norm", R"(
    in x float[2,3,4]
    const two float[] = 2
    const one float[] = 1
    const epsilon float[] = 0.00001
    const scale float[4] = 1 2 3 4
    a = Pow(x, two)
    b = ReduceMean(a) {axes: [-1]}
    c = Add(b, epsilon)
    d = Sqrt(c)
    e = Div(one, d)
    f = Mul(x, e)
    y = Mul(scale, f)
    out y
  )",
         "y = RMSNormalization(x, scale) {axis: -1, epsilon: 1e-05}\n");
  expect("rms_norm", R"(
    in x float[2,3,4]
    const epsilon float[] = 0.00001
    const scale float[4] = 1 2 3 4
    a = Mul(x, x)
    b = ReduceMean(a) {axes: [-1]}
    c = Add(b, epsilon)
    d = Sqrt(c)
    e = Div(x, d)
    y = Mul(e, scale)
    out y
  )",
         "y = RMSNormalization(x, scale) {axis: -1, epsilon: 1e-05}\n");
}

TEST_F(Patterns, a_norm_without_a_mean_or_of_something_else_stays) {
  opset = 17;
  expect_left("rms_norm", R"(
    in x float[2,3,4]
    in z float[2,3,4]
    const epsilon float[] = 0.00001
    const scale float[4] = 1 2 3 4
    a = Mul(x, x)
    b = ReduceSum(a)
    c = Add(b, epsilon)
    d = Sqrt(c)
    e = Div(x, d)
    y = Mul(e, scale)
    f = Mul(x, x)
    g = ReduceMean(f) {axes: [-1]}
    h = Add(g, epsilon)
    i = Sqrt(h)
    j = Div(z, i)
    w = Mul(j, scale)
    out y w
  )");
}

TEST_F(Patterns, numbers_of_f64_are_not_taken_for_those_of_f32) {
  opset = 17;
  const char* const graph = R"(
    in x double[2]
    const root double[] = 1.414213
    const one double[] = 1
    const half double[] = 0.5
    const alpha double[] = 1.702
    a = Div(x, root)
    b = Erf(a)
    c = Add(b, one)
    d = Mul(x, c)
    y = Mul(d, half)
    e = Mul(x, alpha)
    f = Sigmoid(e)
    z = Mul(x, f)
    out y z
  )";
  expect_left("gelu", graph);
  expect_left("swish", graph);
}

TEST_F(Patterns, operands_that_an_attribute_places_stay) {
  // Before version 7, axis says where the scale lies: along the rows here.
  opset = 6;
  expect_left("rms_norm", R"(
    in x float[3,3]
    const epsilon float[] = 0.00001
    const scale float[3] = 1 2 3
    a = Mul(x, x)
    b = ReduceMean(a) {axes: [1]}
    c = Add(b, epsilon) {broadcast: 1}
    d = Sqrt(c)
    e = Div(x, d) {broadcast: 1, axis: 0}
    y = Mul(e, scale) {broadcast: 1, axis: 0}
    out y
  )");
}

TEST_F(Patterns, a_scale_that_broadcasts_gives_the_same) {
  opset = 17;
  for (const char* const extents : {"2,3,4", "2,3,1"})
    for (const char* const scale : {"1", "4"}) {
      if (std::string{extents}.ends_with('4') && std::string{scale} == "4") continue;
      const Graph graph = GraphText::parse(std::string{"in x float["} + extents + R"(]
        const two float[] = 2
        const epsilon float[] = 0.00001
        const scale float[)" + scale + R"(] = 3
        const bias float[)" + scale + R"(] = 5
        m = ReduceMean(x) {axes: [-1]}
        a = Sub(x, m)
        b = Pow(a, two)
        c = ReduceMean(b) {axes: [-1]}
        d = Add(c, epsilon)
        e = Sqrt(d)
        f = Div(a, e)
        g = Mul(f, scale)
        y = Add(g, bias)
        out y
      )",
                                           opset);
      SCOPED_TRACE(std::string{extents} + " by " + scale);
      EXPECT_EQ(rewritten(graph, {"layer_norm"}).nodes.size(), 1U);
      expect_equal_numbers(graph, {"layer_norm"});
    }
}

}  // namespace
}  // namespace stoker::onnx
