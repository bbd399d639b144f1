// What describe() says of a model, and what plan() says of a run.
#include <gtest/gtest.h>

#include "stoker/api/onnx/run/description.hpp"
#include "stoker/runtime/observe/trace.hpp"
#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

using Kind = Description::FirstAxis::Kind;

ModelFile file_of(const GraphBuilder& builder) {
  ModelFile file;
  file.ir_version = 10;
  file.opsets = {{"", builder.opset}};
  file.graph = builder.graph;
  return file;
}

TEST(Description, says_what_the_file_says_of_itself) {
  ModelFile file = file_of(GraphBuilder{}.input("x", {"n", 3}).output("x"));
  file.producer_name = "a converter";
  file.metadata = {{"author", "somebody"}};
  file.graph.name = "main";
  const Description description = describe(file);
  EXPECT_EQ(description.metadata.producer_name, "a converter");
  EXPECT_EQ(description.metadata.opsets.at(0).version, 21);
  EXPECT_EQ(description.metadata.properties.at(0).second, "somebody");
  EXPECT_EQ(description.graph, "main");
  EXPECT_EQ(description.inputs.at(0).value.type.to_string(), "float[n,3]");
  EXPECT_EQ(description.outputs.at(0).name, "x");
}

TEST(Description, counts_parameters_and_operators_of_all_graphs) {
  const Attribute body = GraphBuilder{}
                             .constant("two", reals({2, 2}))
                             .node("Add", {"x", "two"}, {"sum"})
                             .output("sum")
                             .as("then_branch");
  GraphBuilder builder;
  builder.input("c", {}, ElementType::boolean)
      .input("x", {2})
      .input("w", {3})
      .constant("w", integers({1, 2, 3}))
      .node("Constant", {}, {"k"}, {named("value", reals({7}))})
      .node("Add", {"x", "k"}, {"a"})
      .node("If", {"c"}, {"y"}, {body})
      .output("y");
  const Description description = describe(file_of(builder));
  EXPECT_EQ(description.parameters.tensors, 3U);
  EXPECT_EQ(description.parameters.elements, 6U);
  EXPECT_EQ(description.parameters.bytes, 3 * 8U + 3 * 4U);
  EXPECT_TRUE(description.inputs.at(2).has_default);
  EXPECT_FALSE(description.inputs.at(1).has_default);
  EXPECT_EQ(description.nodes, 4U);
  ASSERT_EQ(description.operators.size(), 3U);
  EXPECT_EQ(description.operators[0].name, "Add");
  EXPECT_EQ(description.operators[0].version, 14);
  EXPECT_EQ(description.operators[0].count, 2U);
}

TEST(Description, a_model_that_cannot_be_loaded_is_described) {
  const Description description = describe(file_of(GraphBuilder{}
                                                       .input("x", {2})
                                                       .node("Foo", {"x"}, {"a"})
                                                       .node("Relu", {"a"}, {"y"})
                                                       .output("y")));
  ASSERT_EQ(description.unsupported.size(), 1U);
  EXPECT_EQ(description.unsupported[0].place, "the node of 'a' (Foo)");
  EXPECT_EQ(description.unsupported[0].opset, 21);
  EXPECT_EQ(description.unsupported[0].why, "there is no such operator");
  EXPECT_EQ(description.operators.at(0).version, 0) << "Foo";
  EXPECT_EQ(description.inputs.size(), 1U);
}

TEST(Description, says_whether_the_first_dimension_is_free) {
  const auto axis_of = [](const GraphBuilder& builder) {
    return describe(file_of(builder)).first_axis;
  };
  const auto free = axis_of(GraphBuilder{}.input("a", {"batch", 2}).input("b", {"batch"}));
  EXPECT_EQ(free.kind, Kind::free);
  EXPECT_EQ(free.symbol, "batch");
  const auto fixed = axis_of(GraphBuilder{}.input("a", {1, 3}));
  EXPECT_EQ(fixed.kind, Kind::fixed);
  EXPECT_EQ(fixed.extent, 1);
  EXPECT_EQ(axis_of(GraphBuilder{}.input("a", {""}).input("b", {"", 2})).kind, Kind::free);
  EXPECT_EQ(axis_of(GraphBuilder{}.input("a", {"n"}).input("b", {"m"})).kind, Kind::unlike);
  EXPECT_EQ(axis_of(GraphBuilder{}.input("a", {"n"}).input("b", {})).kind, Kind::unlike);
  EXPECT_EQ(
      axis_of(GraphBuilder{}.input("a", {"n"}).input("w", {3}).constant("w", reals({1}))).kind,
      Kind::free)
      << "a default is no part of a batch";
}

using PlanOfModel = OnnxTest;

TEST_F(PlanOfModel, knows_operators_of_the_programs_own) {
  OperatorTable table = OperatorTable::standard();
  table.add({.name = "Twice", .domain = "test", .lower = [](Call& call) {
               return Values{call.like(call.x() * 2)};
             }});
  LoadOptions options = here();
  options.operators = &table;
  const Model model = GraphBuilder{}
                          .input("x", {2})
                          .node("Twice", {"x"}, {"y"}, {}, "test")
                          .output("y")
                          .load(options);
  EXPECT_TRUE(model.info().unsupported.empty());
  EXPECT_EQ(model.info().operators.at(0).version, 1);
}

TEST_F(PlanOfModel, lists_what_the_host_folded) {
  const Model model =
      GraphBuilder{}
          .input("x", {"n"})
          .constant("three", integers({3}))
          .constant("minus", integers({-1}))
          .node("Shape", {"x"}, {"extents"})
          .node("Div", {"extents", "three"}, {"rows"})
          .node("Concat", {"rows", "minus"}, {"shape"}, {named("axis", std::int64_t{0})})
          .node("Reshape", {"x", "shape"}, {"y"})
          .node("Neg", {"minus"}, {"one"})
          .node("Mul", {"y", "y"}, {"z"})
          .output("z")
          .output("one")
          .load({.device = device_, .optimize = Optimize::none});
  const PlanDescription plan = model.plan({{"x", iota({6}, DType::f32)}});
  EXPECT_EQ(plan.nodes, 6U);
  ASSERT_EQ(plan.on_host.size(), 3U);
  EXPECT_EQ(plan.on_host[0].node, "the node of 'extents' (Shape)");
  EXPECT_EQ(plan.on_host[1].node, "the node of 'rows' (Div)");
  EXPECT_EQ(plan.on_host[2].node, "the node of 'shape' (Concat)");
  ASSERT_EQ(plan.constant.size(), 1U);
  EXPECT_EQ(plan.constant[0].node, "the node of 'one' (Neg)");
  ASSERT_EQ(plan.segments.size(), 1U);
  EXPECT_FALSE(plan.segments[0].cut);
  EXPECT_EQ(plan.segments[0].kernels(), 1U);
  EXPECT_EQ(plan.segments[0].result_bytes, 6 * sizeof(float));
}

TEST_F(PlanOfModel, counts_constants_as_computed_once_only_if_they_are) {
  // A scale of two numbers becomes 64 KiB, more than is kept for what it is made of.
  const Model model = GraphBuilder{}
                          .input("x", {"n", 2})
                          .constant("two", reals({1, 2}))
                          .constant("rows", integers({8192, 2}))
                          .node("Expand", {"two", "rows"}, {"large"})
                          .node("Neg", {"two"}, {"small"})
                          .node("Mul", {"x", "small"}, {"a"})
                          .node("Mul", {"a", "large"}, {"y"})
                          .output("y")
                          .load({.device = device_, .optimize = Optimize::none});
  const PlanDescription plan = model.plan({{"x", ones({8192, 2})}});
  ASSERT_EQ(plan.constant.size(), 1U);
  EXPECT_EQ(plan.constant[0].node, "the node of 'small' (Neg)");
}

TEST_F(PlanOfModel, weights_of_one_number_are_written_once) {
  const Model model =
      GraphBuilder{}
          .input("x", {"n", 64})
          .input("image", {1, 32, 9, 9})
          .constant("square", integers({64, 64}))
          .constant("taps", integers({8, 32, 3, 3}))
          .node("ConstantOfShape", {"square"}, {"w"}, {named("value", reals({0.5F}))})
          .node("ConstantOfShape", {"taps"}, {"k"}, {named("value", reals({0.25F}))})
          .node("MatMul", {"x", "w"}, {"y"})
          .node("Conv", {"image", "k"}, {"z"})
          .output("y")
          .output("z")
          .load({.device = device_, .optimize = Optimize::none});
  const NamedValues inputs{{"x", ones({2, 64})}, {"image", ones({1, 32, 9, 9})}};
  const PlanDescription plan = model.plan(inputs);
  EXPECT_EQ(plan.segments.at(0).kernels(), 2U) << "none fills them";
  EXPECT_EQ(model.stats().weight_bytes, (64 * 64 + 8 * 32 * 9) * sizeof(float));
  const NamedValues outputs = model.run(inputs).get();
  EXPECT_EQ(floats(outputs, "y"), std::vector<float>(128, 32));
  EXPECT_EQ(floats(outputs, "z"), std::vector<float>(8 * 7 * 7, 72));
}

TEST_F(PlanOfModel, says_which_nodes_a_kernel_computes) {
  const Attribute body = GraphBuilder{}.node("Neg", {"a"}, {"b"}).output("b").as("then_branch");
  const Model model = GraphBuilder{}
                          .input("x", {"n"})
                          .constant("yes", {.type = ElementType::boolean,
                                            .dims = {},
                                            .bytes = SharedBytes::own({std::byte{1}}),
                                            .strings = {}})
                          .constant("axis", integers({0}))
                          .node("Exp", {"x"}, {"a"})
                          .node("If", {"yes"}, {"c"}, {body, named("else_branch", body.value)})
                          .node("CumSum", {"c", "axis"}, {"y"})
                          .output("y")
                          .load(here());
  const PlanDescription plan = model.plan({{"x", ones({4})}});
  ASSERT_EQ(plan.segments.at(0).kernels(), 2U);
  const std::vector<PlanDescription::Kernel>& kernels = plan.segments[0].steps.at(0).kernels;
  EXPECT_EQ(kernels.at(0).nodes,
            (std::vector<std::string>{"the node of 'a' (Exp)", "the node of 'b' (Neg)"}));
  EXPECT_EQ(kernels[1].nodes, (std::vector<std::string>{"the node of 'y' (CumSum)"}));
  EXPECT_FALSE(kernels[0].time) << "nobody asked for it";
}

TEST_F(PlanOfModel, kernels_are_timed_while_the_system_traces) {
  system_.trace().enable();
  const Model model =
      GraphBuilder{}.input("x", {"n"}).node("Exp", {"x"}, {"y"}).output("y").load(here());
  const PlanDescription plan = model.plan({{"x", ones({4096})}});
  ASSERT_EQ(plan.segments.at(0).kernels(), 1U);
  const auto time = plan.segments[0].steps[0].kernels[0].time;
  ASSERT_TRUE(time);
  EXPECT_GT(time->count(), 0);
}

TEST_F(PlanOfModel, says_where_it_is_cut_and_for_which_value) {
  const Model model = GraphBuilder{}
                          .input("x", {"n"})
                          .constant("one", reals({1}))
                          .node("ArgMax", {"x"}, {"most"})
                          .node("Expand", {"one", "most"}, {"y"})
                          .output("y")
                          .load(here());
  const PlanDescription plan = model.plan({{"x", tensor({1.0, 2.0, 9.0, 4.0})}});
  ASSERT_EQ(plan.segments.size(), 2U);
  ASSERT_TRUE(plan.segments[0].cut);
  EXPECT_EQ(plan.segments[0].cut->node, "the node of 'y' (Expand)");
  EXPECT_EQ(plan.segments[0].cut->value, "most");
  EXPECT_EQ(plan.segments[0].cut->read, (TensorSpec{DType::s64, Shape{1}}));
  EXPECT_FALSE(plan.segments[1].cut);
}

TEST_F(PlanOfModel, a_value_that_a_rule_made_has_no_name) {
  const Model model =
      GraphBuilder{}.input("x", {"n"}).node("NonZero", {"x"}, {"y"}).output("y").load(here());
  const PlanDescription plan = model.plan({{"x", tensor({1.0, 0.0})}});
  ASSERT_EQ(plan.segments.size(), 2U);
  EXPECT_EQ(plan.segments[0].cut->node, "the node of 'y' (NonZero)");
  EXPECT_EQ(plan.segments[0].cut->value, "");
}

TEST_F(PlanOfModel, keeps_no_plan) {
  const Model model =
      GraphBuilder{}.input("x", {2}).node("Neg", {"x"}, {"y"}).output("y").load(here());
  (void)model.plan({{"x", ones({2})}});
  EXPECT_EQ(model.stats().traced, 0U);
  EXPECT_EQ(model.stats().segments, 0U);
}

TEST_F(PlanOfModel, counts_the_bytes_that_a_run_needs) {
  const Model model = GraphBuilder{}
                          .input("x", {"n"})
                          .constant("axis", integers({0}))
                          .constant("w", reals({1, 2, 3, 4}))
                          .node("CumSum", {"x", "axis"}, {"a"})
                          .node("CumSum", {"a", "axis"}, {"b"})
                          .node("Mul", {"b", "w"}, {"y"})
                          .output("y")
                          .load(here());
  EXPECT_EQ(model.stats().weight_bytes, 0U);
  EXPECT_EQ(model.stats().plan_bytes, 0U);
  const NamedValues x{{"x", ones({4})}};
  EXPECT_EQ(floats(model.run(x).get(), "y"), (std::vector<float>{1, 6, 18, 40}));
  EXPECT_EQ(model.stats().weight_bytes, 4 * sizeof(float)) << "the axis was known to the host";
  const PlanDescription plan = model.plan(x);
  EXPECT_EQ(plan.segments.at(0).constant_bytes, 4 * sizeof(float));
  EXPECT_EQ(plan.segments[0].result_bytes, 4 * sizeof(float));
  EXPECT_GE(plan.segments[0].working_bytes, 4 * sizeof(float)) << "between the sums";
  EXPECT_EQ(model.stats().plan_bytes, plan.segments[0].working_bytes);
}

}  // namespace
}  // namespace stoker::onnx
