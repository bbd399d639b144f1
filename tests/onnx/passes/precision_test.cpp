// A precision on request: what becomes narrow, what stays in f32, and that it is said.
#include "stoker/api/onnx/optimize/narrowing.hpp"
#include "stoker/tests/onnx/passes/pass_test.hpp"

namespace stoker::onnx {
namespace {

class Precisions : public PassTest {
 protected:
  [[nodiscard]] Narrowed narrowed(const Graph& graph, Precision precision = Precision::f16) const {
    const OperatorTable& operators = OperatorTable::standard();
    return with_precision(file_of(graph), precision, operators, node_evaluation(operators, device_),
                          gpu);
  }
  void expect_narrow(const std::string& before, const std::string& after,
                     Precision precision = Precision::f16) const {
    const Graph graph = GraphText::parse(before, opset);
    EXPECT_EQ(GraphText::print(narrowed(graph, precision).file->graph, graph), after);
  }
  void expect_left(const std::string& before) const { expect_narrow(before, printed(before)); }
  [[nodiscard]] std::string printed(const std::string& text) const {
    const Graph graph = GraphText::parse(text, opset);
    return GraphText::print(graph, graph);
  }
  /// "Exp 1: it is sensitive to rounding (the node of 'e' (Exp))", a line each.
  static std::string kept_in(const PrecisionReport& report) {
    std::string text;
    for (const PrecisionReport::Kept& kept : report.kept)
      text += kept.name + ' ' + std::to_string(kept.nodes) + ": " + kept.why + " (" + kept.first +
              ")\n";
    return text;
  }
  [[nodiscard]] std::string kept(const std::string& text,
                                 Precision precision = Precision::f16) const {
    return kept_in(narrowed(GraphText::parse(text, opset), precision).report);
  }

  [[nodiscard]] static LoadOptions in(Precision precision, Optimize level, const Device& device) {
    return {.device = device, .optimize = level, .precision = precision};
  }
  /// Of a graph with inputs x and yes.
  void expect_near_both_ways(const Graph& graph) {
    for (const bool yes : {true, false})
      for (const Optimize level : {Optimize::none, Optimize::basic, Optimize::all}) {
        const Value condition{full(Shape{}, yes ? 1 : 0, DType::u8), ElementType::boolean};
        const NamedValues inputs{{"x", reshape(tensor({0.5F, 0.25F, 0.125F, 1.0F}), {2, 2})},
                                 {"yes", condition}};
        const Model model = load(file_of(graph), in(Precision::f16, level, vulkan));
        const auto got = floats(model.run(inputs).get(), "y");
        const auto expected = floats(load(file_of(graph), here()).run(inputs).get(), "y");
        for (std::size_t i = 0; i < got.size(); ++i)
          EXPECT_NEAR(got[i], expected[i], 4e-3 * std::abs(expected[i]));
      }
  }
  /// At every level outputs of what a GPU runs, and the CPU, have their types and differ by `bound` at most.
  void expect_near(const Graph& graph, Precision precision, double bound) const {
    const NamedValues expected = load(file_of(graph), in(Precision::full, Optimize::none, device_))
                                     .run(inputs_of(graph))
                                     .get();
    const OperatorTable& operators = OperatorTable::standard();
    const auto evaluate = node_evaluation(operators, device_);
    for (const Optimize level : {Optimize::none, Optimize::basic, Optimize::all}) {
      const auto passes = chosen_passes(level, {});
      const auto before = optimized(file_of(graph), passes, operators, evaluate);
      const Narrowed made = with_precision(before, precision, operators, evaluate, gpu);
      EXPECT_GT(made.report.narrowed, 0U);
      expect_near(load(made.file, in(Precision::full, level, device_)).run(inputs_of(graph)).get(),
                  expected, bound);
      const DeviceScope there{vulkan};
      const Model model = load(file_of(graph), in(precision, level, vulkan));
      EXPECT_EQ(model.info().precision->narrowed, made.report.narrowed);
      expect_near(model.run(inputs_of(graph)).get(), expected, bound);
    }
  }

  Device vulkan = system_.device("vulkan");
  DeviceInfo gpu = [] {
    DeviceInfo info;
    info.type = DeviceType::discrete_gpu;
    info.dtypes = {DType::f32, DType::f16, DType::bf16};
    return info;
  }();

 private:
  static NamedValues inputs_of(const Graph& graph) {
    NamedValues inputs;
    for (const ValueInfo& input : graph.inputs)
      if (graph.initializer(input.name) == nullptr) inputs.emplace(input.name, some(input.type));
    return inputs;
  }
  static void expect_near(const NamedValues& got, const NamedValues& expected, double bound) {
    ASSERT_EQ(got.size(), expected.size());
    for (const auto& [name, value] : expected) {
      ASSERT_EQ(got.at(name).type(), value.type()) << name;
      ASSERT_EQ(got.at(name).shape(), value.shape()) << name;
      const auto a = got.at(name).tensor().to_vector<double>();
      const auto b = value.tensor().to_vector<double>();
      double most = 0;
      for (const double number : b) most = std::max(most, std::abs(number));
      for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_NEAR(a[i], b[i], bound * most) << name << " at " << i;
    }
  }
};

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

TEST_F(Precisions, look_at_branches_which_share_weights_of_the_graph_around) {
  const Graph then_graph = GraphText::parse("t = MatMul(x, w)\nu = Relu(t)\nout u", opset);
  const Graph else_graph = GraphText::parse("e = MatMul(m, w)\nf = Exp(e)\nout f", opset);
  Graph graph = GraphText::parse(R"(
    in x float[2,2]
    in yes bool[]
    const w float[2,2] = 1 2 3 4
    m = MatMul(x, x)
    y = If(yes)
    out y
  )",
                                 opset);
  graph.nodes.back().attributes = {
      attribute("then_branch", std::make_shared<const Graph>(then_graph)),
      attribute("else_branch", std::make_shared<const Graph>(else_graph))};
  const Narrowed made = narrowed(graph);
  EXPECT_EQ(GraphText::print(made.file->graph, graph),
            "const w.1 float16[2,2] = 1 2 3 4\n"
            "x.1 = Cast(x) {to: 10}\n"
            "m.1 = MatMul(x.1, x.1)\n"
            "m = Cast(m.1) {to: 1}\n"
            "y = If(yes) {then_branch: a graph, else_branch: a graph}\n");
  const Node& branches = made.file->graph.nodes.back();
  EXPECT_EQ(GraphText::print(branches.graph("then_branch"), then_graph),
            "x.2 = Cast(x) {to: 10}\n"
            "t.1 = MatMul(x.2, w.1)\n"
            "u.1 = Relu(t.1)\n"
            "u = Cast(u.1) {to: 1}\n");
  EXPECT_EQ(GraphText::print(branches.graph("else_branch"), else_graph),
            "m.2 = Cast(m) {to: 10}\n"
            "e.1 = MatMul(m.2, w.1)\n"
            "e = Cast(e.1) {to: 1}\n"
            "f = Exp(e)\n");
  EXPECT_EQ(made.report.narrowed, 4U);
  EXPECT_EQ(made.report.weights, 1U);
  expect_near_both_ways(graph);
}

TEST_F(Precisions, give_each_branch_its_own_copy_of_a_constant_that_follows) {
  const Graph then_graph = GraphText::parse("t = MatMul(x, w)\nu = Add(t, b)\nout u", opset);
  const Graph else_graph = GraphText::parse("e = MatMul(x, x)\nf = Add(e, b)\nout f", opset);
  Graph graph = GraphText::parse(
      "in x float[2,2]\nin yes bool[]\nconst w float[2,2] = 1 2 3 4\nconst b float[2] = 5 6\n"
      "y = If(yes)\nout y",
      opset);
  graph.nodes.back().attributes = {
      attribute("then_branch", std::make_shared<const Graph>(then_graph)),
      attribute("else_branch", std::make_shared<const Graph>(else_graph))};
  expect_near_both_ways(graph);
}

TEST_F(Precisions, keep_the_types_of_what_a_loop_carries) {
  const Graph body = GraphText::parse(R"(
    in i int64[]
    in go bool[]
    in s float[2,2]
    again = Identity(go)
    d = MatMul(s, w)
    out again d
  )",
                                      opset);
  Graph graph = GraphText::parse(R"(
    in x float[2,2]
    const trips int64[] = 3
    const w float[2,2] = 0.5 0.25 0.25 0.5
    y = Loop(trips, , x)
    out y
  )",
                                 opset);
  graph.nodes.back().attributes = {attribute("body", std::make_shared<const Graph>(body))};
  const Narrowed made = narrowed(graph);
  EXPECT_EQ(GraphText::print(made.file->graph.nodes.back().graph("body"), body),
            "again = Identity(go)\n"
            "s.1 = Cast(s) {to: 10}\n"
            "d.1 = MatMul(s.1, w.1)\n"
            "d = Cast(d.1) {to: 1}\n");
  expect_near(graph, Precision::f16, 2e-3);
}

TEST_F(Precisions, leave_a_run_that_gives_an_input_in_the_place_of_its_initializer) {
  const Graph graph = GraphText::parse(R"(
    in x float[1,1]
    in w float[1,1] = 3
    y = MatMul(x, w)
    out y
  )",
                                       opset);
  const Model model = load(file_of(graph), in(Precision::f16, Optimize::all, vulkan));
  const Tensor fine = full(Shape{1, 1}, 1.0009765F, DType::f32);
  EXPECT_EQ(floats(model.run({{"x", fine}}).get(), "y"), (std::vector<float>{3.00390625F}));
  EXPECT_EQ(floats(model.run({{"x", ones({1, 1})}, {"w", fine}}).get(), "y"),
            (std::vector<float>{1.0009765F}))
      << "this run is in f32";
}

TEST_F(Precisions, leave_sequences_and_optional_values) {
  const Graph graph = GraphText::parse(R"(
    in x float[2,2]
    const at int64[] = 1
    m = MatMul(x, x)
    s = SequenceConstruct(x, m)
    t = Identity(s)
    e = SequenceAt(t, at)
    o = Optional(e)
    g = OptionalGetElement(o)
    y = Relu(g)
    out y
  )",
                                       opset);
  EXPECT_EQ(narrowed(graph).report.narrowed, 1U);
  expect_near(graph, Precision::f16, 2e-3);
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
