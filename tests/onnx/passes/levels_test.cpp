// How a program chooses passes, and what they must not touch.
#include <fstream>
#include <iterator>

#include "stoker/tests/checkout/checkout.hpp"
#include "stoker/tests/onnx/passes/pass_test.hpp"

namespace stoker::onnx {
namespace {

using Levels = PassTest;

constexpr const char* convolution = R"(
  in x float[1,1,2,2]
  in w float[1,1,1,1] = 3
  const scale float[1] = 2
  const var float[1] = 1
  a = Identity(x)
  c = Conv(a, w)
  y = BatchNormalization(c, scale, scale, scale, var) {epsilon: 0.0}
  out y
)";

std::vector<std::string> names_of(const std::vector<const Pass*>& passes) {
  std::vector<std::string> names;
  for (const Pass* const one : passes) names.push_back(one->name);
  return names;
}

TEST_F(Levels, basic_passes_are_a_part_of_all) {
  EXPECT_TRUE(chosen_passes(Optimize::none, {}).empty());
  const auto basic = names_of(chosen_passes(Optimize::basic, {}));
  const auto all = names_of(chosen_passes(Optimize::all, {}));
  EXPECT_NE(std::ranges::find(basic, "identity"), basic.end());
  EXPECT_EQ(std::ranges::find(basic, "batch_norm"), basic.end());
  EXPECT_NE(std::ranges::find(all, "batch_norm"), all.end());
  EXPECT_LT(basic.size(), all.size());
  EXPECT_EQ(all.size(), PassTable::standard().list().size());
}

TEST_F(Levels, a_pass_without_is_left_out) {
  const std::vector<std::string> without{"identity"};
  const auto chosen = names_of(chosen_passes(Optimize::all, without));
  EXPECT_EQ(std::ranges::find(chosen, "identity"), chosen.end());
  EXPECT_EQ(chosen.size() + 1, PassTable::standard().list().size());
}

TEST_F(Levels, the_guide_has_a_row_for_each_pass_in_their_order) {
  std::ifstream guide{checkout_folder() / "docs/onnx.md"};
  const std::string text{std::istreambuf_iterator<char>{guide}, {}};
  std::string rows = "| pass | level | what it does |\n|---|---|---|\n";
  for (const Pass& one : PassTable::standard().list())
    rows += "| `" + one.name + "` | " + (one.level == Optimize::basic ? "basic" : "all") + " | " +
            one.summary + " |\n";
  EXPECT_NE(text.find(rows + '\n'), std::string::npos) << rows;
}

TEST_F(Levels, an_unknown_pass_is_refused_with_the_nearest) {
  const auto file = file_of(GraphText::parse(convolution, opset));
  const Error error = refusal([&] {
    static_cast<void>(
        load(file, {.device = device_, .optimize = Optimize::none, .without = {"batchnorm"}}));
  });
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  EXPECT_EQ(error.reason(), "there is no pass 'batchnorm'; did you mean 'batch_norm'?");
}

TEST_F(Levels, a_definition_is_refused_that_is_there_or_says_nothing) {
  PassTable table;
  const auto nothing = [](GraphEditor&) {};
  table.add({.name = "one", .summary = "does nothing", .run = nothing});
  EXPECT_EQ(refusal([&] { table.add({.name = "one", .summary = "again", .run = nothing}); }).code(),
            ErrorCode::already_exists);
  EXPECT_EQ(refusal([&] { table.add({.name = "two", .summary = {}, .run = nothing}); }).code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refusal([&] { table.add({.name = "two", .summary = "does"}); }).code(),
            ErrorCode::invalid_argument);
}

TEST_F(Levels, a_run_may_give_an_input_in_the_place_of_its_initializer) {
  const Graph graph = GraphText::parse(convolution, opset);
  EXPECT_EQ(GraphText::print(rewritten(graph, {"identity", "batch_norm"}), graph),
            "const w.1 float[1] = -2\nconst w.2 float[1,1,1,1] = 6\ny = Conv(x, w.2, w.1)\n");
  const Model model = load(file_of(graph), here());
  const Tensor x = reshape(tensor({1.0F, 2.0F, 3.0F, 4.0F}), {1, 1, 2, 2});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(floats(model.run({{"x", x}}).get(), "y"), (std::vector<float>{4, 10, 16, 22}));
    EXPECT_EQ(floats(model.run({{"x", x}, {"w", ones({1, 1, 1, 1})}}).get(), "y"),
              (std::vector<float>{0, 2, 4, 6}));
  }
  EXPECT_EQ(model.inputs().size(), 2U);
  EXPECT_EQ(model.stats().traced, 2U);
}

TEST_F(Levels, a_plan_and_a_binding_are_of_the_graph_that_a_run_takes) {
  const Model model = load(file_of(GraphText::parse(convolution, opset)), here());
  const Tensor x = reshape(tensor({1.0F, 2.0F, 3.0F, 4.0F}), {1, 1, 2, 2});
  const NamedValues usual{{"x", x}};
  const NamedValues own{{"x", x}, {"w", ones({1, 1, 1, 1})}};
  EXPECT_EQ(model.info().nodes, 3U) << "the file has them";
  EXPECT_EQ(model.plan(usual).nodes, 1U);
  EXPECT_EQ(model.plan(own).nodes, 3U);
  const auto bound = [&](const NamedValues& inputs) {
    const Binding binding = model.bind(inputs);
    binding.run().get();
    return binding.outputs().at("y").read<float>().get();
  };
  EXPECT_EQ(bound(usual), (std::vector<float>{4, 10, 16, 22}));
  EXPECT_EQ(bound(own), (std::vector<float>{0, 2, 4, 6}));
  const std::uint64_t of_one = model.stats().weight_bytes;
  model.warm_up(usual);
  model.warm_up(own);
  EXPECT_EQ(model.stats().segments, 2U);
  EXPECT_EQ(model.stats().weight_bytes, of_one) << "bindings have read them";
}

TEST_F(Levels, names_that_subgraphs_read_stay) {
  const Graph then_graph =
      GraphText::parse("b = Relu(a)\nc = Relu(b)\nt = Add(c, two)\nout t", opset);
  const Graph else_graph = GraphText::parse("e = Identity(n)\nout e", opset);
  Graph graph = GraphText::parse(R"(
    in x float[2]
    in yes bool[]
    const two float[1] = 2
    a = Identity(x)
    m = Neg(x)
    n = Identity(m)
    y = If(yes)
    out y
  )",
                                 opset);
  graph.nodes.back().attributes = {
      attribute("then_branch", std::make_shared<const Graph>(then_graph)),
      attribute("else_branch", std::make_shared<const Graph>(else_graph))};
  const Graph after = rewritten(graph, {"identity", "relu_clip"});
  // Identity of an input stays where a subgraph reads it, and the result of Neg takes the name that is read.
  EXPECT_EQ(
      GraphText::print(after, graph),
      "a = Identity(x)\nn = Neg(x)\ny = If(yes) {then_branch: a graph, else_branch: a graph}\n");
  EXPECT_EQ(GraphText::print(after.nodes.back().graph("then_branch"), then_graph),
            "c = Relu(a)\nt = Add(c, two)\n");
  for (const bool yes : {true, false}) {
    const Value condition{full(Shape{}, yes ? 1 : 0, DType::u8), ElementType::boolean};
    const NamedValues inputs{{"x", tensor({1.0F, -2.0F})}, {"yes", condition}};
    EXPECT_EQ(floats(load(file_of(graph), here()).run(inputs).get(), "y"),
              yes ? (std::vector<float>{3, 2}) : (std::vector<float>{-1, 2}));
  }
}

TEST_F(Levels, initializers_of_a_body_that_are_its_inputs_are_no_constants) {
  // The body's s is given by the loop: 1, 2, 4.
  Graph body = GraphText::parse(R"(
    in i int64[]
    in go bool[]
    in s float[1] = 100
    const unused float[1] = 7
    again = Identity(go)
    d = Add(s, s)
    out again d
  )",
                                opset);
  Graph graph = GraphText::parse(R"(
    in x float[1]
    const trips int64[] = 3
    y = Loop(trips, , x)
    out y
  )",
                                 opset);
  graph.nodes.back().attributes = {attribute("body", std::make_shared<const Graph>(body))};
  const Graph after = rewritten(graph, {"constant_folding", "identity"});
  EXPECT_EQ(GraphText::print(after.nodes.back().graph("body"), body),
            "again = Identity(go)\nd = Add(s, s)\n");
  EXPECT_EQ(floats(load(file_of(graph), here()).run({{"x", ones({1})}}).get(), "y"),
            (std::vector<float>{8}));
}

TEST_F(Levels, a_graph_with_operators_of_another_meaning_stays) {
  const Graph graph = GraphText::parse(
      "in x float[3]\na = Sigmoid(x)\nb = Mul(x, a)\ny = Identity(b)\nout y", opset);
  OperatorTable own;
  for (const char* const name : {"Sigmoid", "Mul"})
    own.add(*OperatorTable::standard().find("", name));
  own.add(
      {.name = "Identity", .lower = [](Call& call) { return Values{call.like(call.x() * 2)}; }});
  const auto file = file_of(graph);
  EXPECT_EQ(optimized(file, chosen_passes(Optimize::all, {}), own, node_evaluation(own, device_)),
            file);
}

TEST_F(Levels, an_attribute_of_another_kind_is_left_to_the_run) {
  const Model model = load(file_of(GraphText::parse(R"(
    in x float[1,1,2,2]
    const w float[1,1,1,1] = 3
    const two float[] = 2
    a = Conv(x, w) {group: 1.5}
    z = Mul(a, two)
    y = Neg(x)
    out y z
  )",
                                                    opset)),
                           here());
  const NamedValues inputs{{"x", ones({1, 1, 2, 2})}};
  EXPECT_EQ(floats(model.run(inputs, {.outputs = {"y"}}).get(), "y"),
            (std::vector<float>{-1, -1, -1, -1}));
  EXPECT_EQ(refusal([&] { static_cast<void>(model.run(inputs).get()); }).code(),
            ErrorCode::invalid_argument);
}

TEST_F(Levels, a_node_that_cannot_be_computed_is_refused_though_nothing_needs_it) {
  const auto file =
      file_of(GraphText::parse("in x float[3]\na = Unheard(x)\ny = Neg(x)\nout y", opset));
  EXPECT_EQ(refusal([&] { static_cast<void>(load(file, here())); }).code(), ErrorCode::unsupported);
}

TEST_F(Levels, a_graph_that_no_pass_changes_is_the_file_itself) {
  const auto file = file_of(GraphText::parse("in x float[3]\ny = Neg(x)\nout y", opset));
  const OperatorTable& operators = OperatorTable::standard();
  EXPECT_EQ(optimized(file, chosen_passes(Optimize::all, {}), operators,
                      node_evaluation(operators, device_)),
            file);
}

TEST_F(Levels, passes_together_come_to_an_end_and_keep_the_numbers) {
  const Graph graph = GraphText::parse(R"(
    in x float[2,3,8,8]
    const w float[4,3,3,3] = 0.0625
    const around int64[8] = 0 0 1 1 0 0 1 1
    const scale float[4] = 1 2 3 4
    const mean float[4] = 0.5
    const three float[] = 3
    const zero float[] = 0
    const six float[] = 6
    const flat int64[2] = 0 -1
    const q float[256,3] = 0.01
    const k float[256,3] = 0.02
    const v float[256,3] = 0.03
    const last int64[1] = -1
    p = Pad(x, around)
    c = Conv(p, w)
    n = BatchNormalization(c, scale, mean, mean, scale) {epsilon: 0.0}
    i = Identity(n)
    a = Add(i, three)
    b = Clip(a, zero, six)
    d = Div(b, six)
    h = Mul(i, d)
    f = Reshape(h, flat)
    qq = MatMul(f, q)
    kk = MatMul(f, k)
    vv = MatMul(f, v)
    s = Mul(qq, kk)
    e = Exp(s)
    t = ReduceSum(e, last)
    u = Div(e, t)
    y = Mul(u, vv)
    out y
  )",
                                       opset);
  std::vector<std::string> all;
  for (const Pass& one : PassTable::standard().list()) all.push_back(one.name);
  EXPECT_EQ(GraphText::print(rewritten(graph, all), graph),
            "const w.1 float[4] = 0 -0.207107 -0.366025 -0.5\n"
            "const w.2 float[4,3,3,3]\n"
            "const q.1 float[256,9]\n"
            "const q.2 int64[3] = 3 3 3\n"
            "c = Conv(x, w.2, w.1) {pads: [1,1,1,1], winograd: 1}\n"
            "h = HardSwish(c)\n"
            "f = Reshape(h, flat)\n"
            "qq.1 = MatMul(f, q.1)\n"
            "qq, kk, vv = Split(qq.1, q.2) {axis: -1}\n"
            "s = Mul(qq, kk)\n"
            "u = Softmax(s) {axis: -1}\n"
            "y = Mul(u, vv)\n");
  expect_equal_numbers(graph, all);
}

}  // namespace
}  // namespace stoker::onnx
