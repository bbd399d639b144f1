// A precision on request: what becomes narrow, what stays in f32, and that it is said.
#include "stoker/tests/onnx/passes/precisions.hpp"

namespace stoker::onnx {
namespace {

TEST_F(Precisions, have_words) {
  for (const Precision one : {Precision::full, Precision::f16, Precision::bf16})
    EXPECT_EQ(parse_precision(to_string(one)), one);
  EXPECT_EQ(to_string(Precision::bf16), "bf16");
  EXPECT_EQ(parse_precision("half"), std::nullopt);
}

TEST_F(Precisions, make_a_product_and_what_follows_narrow_between_casts) {
  const std::string text = R"(
    in x float[2,4]
    const w float[4,2] = 0.5 1 1.5 2 2.5 3 3.5 4
    const b float[2] = 1 -1
    m = MatMul(x, w)
    a = Add(m, b)
    y = Relu(a)
    out y
  )";
  expect_narrow(text,
                "const w.1 float16[4,2] = 0.5 1 1.5 2 2.5 3 3.5 4\n"
                "const b.1 float16[2] = 1 -1\n"
                "x.1 = Cast(x) {to: 10}\n"
                "m.1 = MatMul(x.1, w.1)\n"
                "a.1 = Add(m.1, b.1)\n"
                "y.1 = Relu(a.1)\n"
                "y = Cast(y.1) {to: 1}\n");
  expect_narrow("in x float[2,2]\ny = MatMul(x, x)\nout y",
                "x.1 = Cast(x) {to: 16}\ny.1 = MatMul(x.1, x.1)\ny = Cast(y.1) {to: 1}\n",
                Precision::bf16);
  const Graph graph = GraphText::parse(text, opset);
  const PrecisionReport report = narrowed(graph).report;
  EXPECT_EQ(report.narrowed, 3U);
  EXPECT_EQ(report.weights, 2U);
  EXPECT_EQ(report.weight_bytes, 20U);
  EXPECT_EQ(kept_in(report), "");
  expect_near(graph, Precision::f16, 1e-3);
  expect_near(graph, Precision::bf16, 8e-3);
}

TEST_F(Precisions, leave_what_no_product_leads_to) {
  const std::string text = R"(
    in x float[2,4]
    const b float[4] = 1
    a = Add(x, b)
    y = Relu(a)
    out y
  )";
  expect_left(text);
  EXPECT_EQ(kept(text),
            "Add 1: what it reads is f32 (the node of 'a' (Add))\n"
            "Relu 1: what it reads is f32 (the node of 'y' (Relu))\n");
}

TEST_F(Precisions, keep_sensitive_operators_between_products) {
  const std::string text = R"(
    in x float[2,2]
    const w float[2,2] = 0.25
    const two float[] = 2
    m = MatMul(x, w)
    e = Exp(m)
    s = Mul(m, m)
    p = Pow(m, two)
    f = Add(e, s)
    g = Add(f, p)
    y = MatMul(g, w)
    out y
  )";
  expect_narrow(text,
                "const w.1 float16[2,2] = 0.25 0.25 0.25 0.25\n"
                "x.1 = Cast(x) {to: 10}\n"
                "m.1 = MatMul(x.1, w.1)\n"
                "m = Cast(m.1) {to: 1}\n"
                "e = Exp(m)\n"
                "s = Mul(m, m)\n"
                "p = Pow(m, two)\n"
                "f = Add(e, s)\n"
                "g = Add(f, p)\n"
                "g.1 = Cast(g) {to: 10}\n"
                "y.1 = MatMul(g.1, w.1)\n"
                "y = Cast(y.1) {to: 1}\n");
  EXPECT_EQ(kept(text),
            "Add 2: what it reads is f32 (the node of 'f' (Add))\n"
            "Exp 1: it is sensitive to rounding (the node of 'e' (Exp))\n"
            "Mul 1: it is sensitive to rounding (the node of 's' (Mul))\n"
            "Pow 1: it is sensitive to rounding (the node of 'p' (Pow))\n");
  expect_near(GraphText::parse(text, opset), Precision::f16, 4e-3);
}

TEST_F(Precisions, leave_nodes_whose_constants_do_not_fit) {
  const std::string text = R"(
    in x float[2,2]
    const large float[2,2] = 1 2 3 70000
    const tiny float[] = 1e-9
    const mask float[2] = 0 -inf
    const few float[2] = 0.00000003 1e-9
    a = MatMul(x, large)
    b = MatMul(x, x)
    c = Mul(b, tiny)
    d = Add(b, mask)
    e = Mul(b, few)
    out a c d e
  )";
  expect_narrow(text,
                "const mask.1 float16[2] = 0 -inf\n"
                "const few.1 float16[2] = 5.96046e-08 0\n"
                "a = MatMul(x, large)\n"
                "x.1 = Cast(x) {to: 10}\n"
                "b.1 = MatMul(x.1, x.1)\n"
                "b = Cast(b.1) {to: 1}\n"
                "c = Mul(b, tiny)\n"
                "d.1 = Add(b.1, mask.1)\n"
                "d = Cast(d.1) {to: 1}\n"
                "e.1 = Mul(b.1, few.1)\n"
                "e = Cast(e.1) {to: 1}\n");
  EXPECT_EQ(kept(text),
            "MatMul 1: a constant of it does not fit f16 (the node of 'a' (MatMul))\n"
            "Mul 1: a constant of it does not fit f16 (the node of 'c' (Mul))\n");
  EXPECT_EQ(kept(text, Precision::bf16), "");
  EXPECT_EQ(
      kept("in x float[1,1]\nconst most float[1,1] = 3.4028234e38\ny = MatMul(x, most)\nout y",
           Precision::bf16),
      "MatMul 1: a constant of it does not fit bf16 (the node of 'y' (MatMul))\n");
}

TEST_F(Precisions, divide_by_nothing_that_becomes_0) {
  const std::string start = "in x float[2,2]\nconst d float[2] = 1 1e-9\na = MatMul(x, x)\n";
  EXPECT_EQ(kept(start + "y = Div(a, d)\nout y"),
            "Div 1: it would divide by 0 (the node of 'y' (Div))\n");
  EXPECT_EQ(kept(start + "y = Div(a, d)\nout y", Precision::bf16), "");
  EXPECT_EQ(kept(start + "y = Div(d, a)\nout y"), "");
}

TEST_F(Precisions, share_a_constant_that_narrow_and_other_nodes_read) {
  const std::string text = R"(
    in x float[2,2]
    const w float[2,2] = 1 2 3 4
    a = MatMul(x, w)
    b = MatMul(a, w)
    y = Exp(w)
    out b y
  )";
  expect_narrow(text,
                "const w.1 float16[2,2] = 1 2 3 4\n"
                "x.1 = Cast(x) {to: 10}\n"
                "a.1 = MatMul(x.1, w.1)\n"
                "b.1 = MatMul(a.1, w.1)\n"
                "b = Cast(b.1) {to: 1}\n"
                "y = Exp(w)\n");
}

TEST_F(Precisions, leave_other_types) {
  expect_left("in x float16[2,2]\ny = MatMul(x, x)\nout y");
  expect_left("in x double[2,2]\ny = MatMul(x, x)\nout y");
  expect_left("in x int32[2,2]\ny = MatMul(x, x)\nout y");
  EXPECT_EQ(kept("in x float16[2,2]\ny = MatMul(x, x)\nz = Exp(y)\nout z"), "");
  // What is an integer or a shape is not looked at, also behind a product.
  expect_narrow(R"(
    in x float[2,2]
    m = MatMul(x, x)
    s = Shape(m)
    r = Reshape(m, s)
    i = Cast(r) {to: 7}
    y = Gather(r, i)
    out y
  )",
                "x.1 = Cast(x) {to: 10}\n"
                "m.1 = MatMul(x.1, x.1)\n"
                "m = Cast(m.1) {to: 1}\n"
                "s = Shape(m)\n"
                "r.1 = Reshape(m.1, s)\n"
                "r = Cast(r.1) {to: 1}\n"
                "i = Cast(r) {to: 7}\n"
                "y.1 = Gather(r.1, i)\n"
                "y = Cast(y.1) {to: 1}\n");
}

TEST_F(Precisions, take_all_results_of_a_node_along) {
  const std::string text = R"(
    in x float[2,4]
    const w float[4,4] = 0.5
    const scale float[2] = 1 2
    m = MatMul(x, w)
    a, b = Split(m) {axis: 1, num_outputs: 2}
    n, mean, deviation = LayerNormalization(a, scale)
    y = Concat(n, b) {axis: 1}
    out y mean
  )";
  expect_narrow(text,
                "const w.1 float16[4,4]\n"
                "x.1 = Cast(x) {to: 10}\n"
                "m.1 = MatMul(x.1, w.1)\n"
                "a.1, b.1 = Split(m.1) {axis: 1, num_outputs: 2}\n"
                "n.1, mean, deviation = LayerNormalization(a.1, scale)\n"
                "y.1 = Concat(n.1, b.1) {axis: 1}\n"
                "y = Cast(y.1) {to: 1}\n");
  expect_near(GraphText::parse(text, opset), Precision::f16, 4e-3);
}

TEST_F(Precisions, leave_nodes_of_which_no_float_is_wanted) {
  const std::string text = R"(
    in x float[1,1,4,4]
    const k float[1,1,3,3] = 0.5
    c = Conv(x, k)
    , places = MaxPool(c) {kernel_shape: [2,2]}
    out places
  )";
  expect_narrow(text,
                "const k.1 float16[1,1,3,3]\n"
                "x.1 = Cast(x) {to: 10}\n"
                "c.1 = Conv(x.1, k.1)\n"
                "c = Cast(c.1) {to: 1}\n"
                "places = MaxPool(c) {kernel_shape: [2,2]}\n");
  EXPECT_EQ(kept(text),
            "MaxPool 1: no float that it gives is wanted (the node of 'places' (MaxPool))\n");
}

TEST_F(Precisions, narrow_recurrent_layers_with_their_states) {
  const Graph graph = GraphText::parse(R"(
    in x float[6,2,3]
    in h float[1,2,2]
    in c float[1,2,2]
    const w float[1,8,3] = 0.125
    const r float[1,8,2] = -0.25
    const b float[1,16] = 0.0625
    all, last, cell = LSTM(x, w, r, b, , h, c) {hidden_size: 2}
    y = Add(last, cell)
    out all y
  )",
                                       opset);
  EXPECT_EQ(narrowed(graph).report.narrowed, 2U);
  expect_near(graph, Precision::f16, 4e-3);
  expect_near(graph, Precision::bf16, 3e-2);
}

TEST_F(Precisions, halve_the_weights_on_the_device) {
  const Graph graph = GraphText::parse(R"(
    in x float[1,64]
    const w float[64,64] = 0.125
    t = Transpose(w)
    m = MatMul(x, t)
    y = MatMul(m, w)
    out y
  )",
                                       opset);
  for (const Optimize level : {Optimize::basic, Optimize::all}) {
    const auto bytes = [&](Precision precision) {
      const Model model = load(file_of(graph), in(precision, level, vulkan));
      model.warm_up({{"x", ones({1, 64})}});
      return model.stats().weight_bytes;
    };
    EXPECT_EQ(2 * bytes(Precision::f16), bytes(Precision::full));
  }
}

TEST_F(Precisions, pay_where_a_gpu_computes_in_them) {
  const std::string text = "in x float[2,2]\ny = MatMul(x, x)\nout y";
  const std::string why = "MatMul 1: the device does not gain (the node of 'y' (MatMul))\n";
  for (const DeviceInfo& device : {device_.info(), vulkan.info()}) {
    gpu = device;
    EXPECT_EQ(kept(text), device.type == DeviceType::cpu ? why : "");
  }
  gpu.dtypes = {DType::f32, DType::bf16};
  expect_left(text);
  EXPECT_EQ(kept(text), why);
  EXPECT_EQ(kept(text, Precision::bf16), "");
}

TEST_F(Precisions, are_told_by_the_model) {
  const Graph graph =
      GraphText::parse("in x float[2,2]\nm = MatMul(x, x)\ny = Exp(m)\nout y", opset);
  EXPECT_FALSE(load(file_of(graph), here()).info().precision);
  const auto on_cpu = load(file_of(graph), in(Precision::bf16, Optimize::all, device_));
  EXPECT_EQ(on_cpu.info().precision->narrowed, 0U);
  EXPECT_EQ(on_cpu.info().precision->kept.size(), 2U);
  for (const Optimize level : {Optimize::none, Optimize::all}) {
    const auto report = load(file_of(graph), in(Precision::bf16, level, vulkan)).info().precision;
    ASSERT_TRUE(report);
    EXPECT_EQ(report->precision, Precision::bf16);
    EXPECT_EQ(report->narrowed, 1U);
    EXPECT_EQ(kept_in(*report), "Exp 1: it is sensitive to rounding (the node of 'y' (Exp))\n");
  }
  const Graph nothing = GraphText::parse("in x float[2,2]\ny = Exp(x)\nout y", opset);
  const auto report =
      load(file_of(nothing), in(Precision::f16, Optimize::all, vulkan)).info().precision;
  ASSERT_TRUE(report);
  EXPECT_EQ(report->narrowed, 0U);
  EXPECT_EQ(report->kept.size(), 1U);
}

}  // namespace
}  // namespace stoker::onnx