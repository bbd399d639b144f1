// A precision on request: in branches, bodies of loops, and for values that are no plain tensors.
#include "stoker/tests/onnx/passes/precisions.hpp"

namespace stoker::onnx {
namespace {

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

}  // namespace
}  // namespace stoker::onnx
