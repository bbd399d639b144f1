// Branches that are both computed, as that takes less than the cut which asks the condition, and those that are not.
#include <cmath>

#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

class Branches : public OnnxTest {
 protected:
  /// y: of x[n], whose sum decides, one of two graphs that read `x` and constants.
  [[nodiscard]] static GraphBuilder chosen(const GraphBuilder& yes, const GraphBuilder& no) {
    GraphBuilder graph;
    return graph.input("x", {"n"})
        .constant("zero", reals({0}))
        .constant("one", reals({1}))
        .node("ReduceSum", {"x"}, {"sum"}, {named("keepdims", std::int64_t{0})})
        .node("Greater", {"sum", "zero"}, {"condition"})
        .node("If", {"condition"}, {"y"}, {yes.as("then_branch"), no.as("else_branch")})
        .output("y");
  }
  [[nodiscard]] static GraphBuilder one_node(const std::string& op,
                                             const std::vector<std::string>& inputs,
                                             const std::string& name) {
    GraphBuilder graph;
    return graph.node(op, inputs, {name}).output(name);
  }
  std::vector<float> of(const Model& model, float x) {
    return floats(model.run({{"x", tensor({x, x})}}).get(), "y");
  }
};

TEST_F(Branches, of_few_elements_are_computed_both) {
  const Model model =
      chosen(one_node("Log", {"x"}, "yes"), one_node("Neg", {"x"}, "no")).load(here());
  EXPECT_EQ(of(model, 1), (std::vector<float>{0, 0}));
  EXPECT_EQ(of(model, -2), (std::vector<float>{2, 2}));  // not the NaN of the other branch
  EXPECT_EQ(model.stats().traced, 1U);
  EXPECT_EQ(model.stats().cuts, 0U);
  // So it may be bound.
  const Buffer x = device_.buffer({3.0F});
  const Binding binding = model.bind({{"x", Tensor{x}}});
  x.write(std::vector<float>{-3});
  binding.run().get();
  EXPECT_EQ(binding.outputs().at("y").read<float>().get(), std::vector<float>{3});
}

TEST_F(Branches, that_do_not_depend_on_each_other_are_one_plan) {
  GraphBuilder graph;
  graph.input("x", {8}).constant("zero", reals({0})).constant("one", reals({1}));
  std::vector<std::string> all;
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    graph.constant("at" + n, integers({i}))
        .node("Gather", {"x", "at" + n}, {"x" + n})
        .node("ReduceSum", {"x" + n}, {"s" + n}, {named("keepdims", std::int64_t{0})})
        .node("Greater", {"s" + n, "zero"}, {"c" + n})
        .node("If", {"c" + n}, {"y" + n},
              {one_node("Add", {"x" + n, "one"}, "yes" + n).as("then_branch"),
               one_node("Sub", {"x" + n, "one"}, "no" + n).as("else_branch")});
    all.push_back("y" + n);
  }
  const Model model =
      graph.node("Concat", all, {"y"}, {named("axis", std::int64_t{0})}).output("y").load(here());
  for (int bits = 0; bits < 256; bits += 17) {
    std::vector<float> x;
    std::vector<float> expected;
    for (int i = 0; i < 8; ++i) {
      x.push_back((bits >> i & 1) != 0 ? 2.0F : -2.0F);
      expected.push_back(x.back() * 1.5F);
    }
    EXPECT_EQ(floats(model.run({{"x", tensor(std::span<const float>{x}, Shape{8})}}).get(), "y"),
              expected);
  }
  EXPECT_EQ(model.stats().traced, 1U);
}

TEST_F(Branches, of_many_elements_are_chosen_by_a_cut) {
  const Model model =
      chosen(one_node("Add", {"x", "one"}, "yes"), one_node("Sub", {"x", "one"}, "no"))
          .load(here());
  EXPECT_EQ(floats(model.run({{"x", full({100000}, 2.0, DType::f32)}}).get(), "y"),
            std::vector<float>(100000, 3));
  EXPECT_EQ(model.stats().cuts, 1U);
}

TEST_F(Branches, that_are_refused_for_these_shapes_are_left_alone) {
  GraphBuilder rows;
  rows.constant("shape", integers({2, -1}))
      .node("Reshape", {"x", "shape"}, {"rows"})
      .node("Reshape", {"rows", "shape_of_x"}, {"yes"})
      .output("yes");
  GraphBuilder graph = chosen(rows, one_node("Neg", {"x"}, "no"));
  graph.graph.nodes.insert(graph.graph.nodes.begin(),
                           GraphBuilder{}.node("Shape", {"x"}, {"shape_of_x"}).graph.nodes[0]);
  const Model model = graph.load(here());
  const auto run = [&](double value) {
    return floats(model.run({{"x", full({3}, value, DType::f32)}}).get(), "y");
  };
  EXPECT_EQ(run(-1), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(model.stats().cuts, 1U);
  EXPECT_EQ(refusal([&] { (void)run(1); }).code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(of(model, 1), (std::vector<float>{1, 1}));
}

TEST_F(Branches, of_integers_that_decide_about_shapes_stay_known) {
  GraphBuilder yes;
  yes.constant("flat", integers({-1, 1})).node("Identity", {"flat"}, {"yes"}).output("yes");
  GraphBuilder no;
  no.constant("wide", integers({1, -1})).node("Identity", {"wide"}, {"no"}).output("no");
  GraphBuilder graph = chosen(yes, no);
  graph.graph.outputs.clear();
  const Model model = graph.node("Reshape", {"x", "y"}, {"z"}).output("z").load(here());
  EXPECT_EQ(model.run({{"x", tensor({1.0F, 2.0F})}}).get().at("z").shape(), (Shape{2, 1}));
  EXPECT_EQ(model.run({{"x", tensor({-1.0F, -2.0F})}}).get().at("z").shape(), (Shape{1, 2}));
  EXPECT_EQ(model.stats().cuts, 2U);
}

}  // namespace
}  // namespace stoker::onnx
