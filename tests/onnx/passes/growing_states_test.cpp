// growing_states: states of loops to which each round only appends.
#include "stoker/tests/onnx/passes/pass_test.hpp"

namespace stoker::onnx {
namespace {

Attribute axis(std::int64_t value) { return named("axis", value); }

class GrowingStates : public PassTest {
 protected:
  /// Each round doubles `state`; `all` is the other state.
  static GraphBuilder doubling() {
    GraphBuilder body;
    return body.input("round", {}, ElementType::s64)
        .input("before", {}, ElementType::boolean)
        .input("state", {1, 2})
        .input("all", {"n", "m"})
        .node("Identity", {"before"}, {"goes_on"})
        .node("Add", {"state", "state"}, {"next"});
  }
  /// With what `longer` is, the second state of the next round.
  static GraphBuilder appending(const std::vector<std::string>& operands, std::int64_t along) {
    return doubling()
        .node("Concat", operands, {"longer"}, {axis(along)})
        .output("goes_on")
        .output("next")
        .output("longer");
  }
  static GraphBuilder around(const GraphBuilder& body, std::int64_t rounds = 3) {
    GraphBuilder graph;
    return graph.input("x", {1, 2})
        .input("start", {2, 2})
        .constant("rounds", integers({rounds}))
        .node("Loop", {"rounds", "", "x", "start"}, {"last", "grown"}, {body.as("body")})
        .output("last")
        .output("grown");
  }
  [[nodiscard]] Node loop_of(const Graph& before) const {
    return rewritten(before, {"growing_states"}).nodes.at(0);
  }
  /// The body as the pass leaves it, which changes no number.
  [[nodiscard]] std::string body_after(const GraphBuilder& body) const {
    const Graph before = around(body).graph;
    expect_equal_numbers(before, {"growing_states"});
    return GraphText::print(loop_of(before).graph("body"), body.graph);
  }
  /// The pass leaves the loop alone.
  void expect_left(const GraphBuilder& body) const {
    const Graph before = around(body).graph;
    EXPECT_EQ(loop_of(before).op, "Loop");
    EXPECT_EQ(GraphText::print(loop_of(before).graph("body"), body.graph),
              GraphText::print(body.graph, body.graph));
  }
};

TEST_F(GrowingStates, give_what_a_round_appends) {
  const GraphBuilder body = appending({"all", "next"}, 0);
  EXPECT_EQ(GraphText::print(body.graph, body.graph),
            "goes_on = Identity(before)\n"
            "next = Add(state, state)\n"
            "longer = Concat(all, next) {axis: 0}\n");
  EXPECT_EQ(body_after(body),
            "goes_on = Identity(before)\n"
            "next = Add(state, state)\n"
            "longer = Concat(next) {axis: 0}\n");
  const Node loop = loop_of(around(body).graph);
  EXPECT_EQ(loop.operator_name(), "stoker.GrowingLoop");
  EXPECT_EQ(loop.inputs, (std::vector<std::string>{"rounds", "", "x", "start"}));
  EXPECT_EQ(loop.integers("growing", {}), Axes{1});
  EXPECT_EQ(loop.integers("growing_axes", {}), Axes{0});
}

TEST_F(GrowingStates, may_get_several_tensors_in_a_round) {
  EXPECT_EQ(body_after(appending({"all", "next", "state"}, -2)),
            "goes_on = Identity(before)\n"
            "next = Add(state, state)\n"
            "longer = Concat(next, state) {axis: -2}\n");
}

TEST_F(GrowingStates, may_grow_along_any_axis) {
  GraphBuilder body = doubling();
  body.node("Transpose", {"next"}, {"column"}, {named("perm", Axes{1, 0})})
      .node("Concat", {"all", "column"}, {"longer"}, {axis(1)})
      .output("goes_on")
      .output("next")
      .output("longer");
  EXPECT_EQ(body_after(body),
            "goes_on = Identity(before)\n"
            "next = Add(state, state)\n"
            "column = Transpose(next) {perm: [1,0]}\n"
            "longer = Concat(column) {axis: 1}\n");
}

TEST_F(GrowingStates, stay_as_they_are_if_no_round_comes) {
  const Graph before = around(appending({"all", "next"}, 0), 0).graph;
  EXPECT_EQ(loop_of(before).op, "GrowingLoop");
  expect_equal_numbers(before, {"growing_states"});
}

TEST_F(GrowingStates, are_left_alone_if_something_is_put_before_them) {
  expect_left(appending({"next", "all"}, 0));
  expect_left(appending({"all", "all"}, 0));
}

TEST_F(GrowingStates, are_left_alone_if_a_round_reads_them) {
  GraphBuilder before_it = doubling();
  before_it.node("Shape", {"all"}, {"extents"})
      .node("Concat", {"all", "next"}, {"longer"}, {axis(0)})
      .output("goes_on")
      .output("next")
      .output("longer")
      .output("extents");
  expect_left(before_it);
  GraphBuilder behind_it = doubling();
  behind_it.node("Concat", {"all", "next"}, {"longer"}, {axis(0)})
      .node("Shape", {"longer"}, {"extents"})
      .output("goes_on")
      .output("next")
      .output("longer")
      .output("extents");
  expect_left(behind_it);
}

TEST_F(GrowingStates, are_left_alone_if_a_branch_reads_them) {
  GraphBuilder yes;
  yes.node("Identity", {"all"}, {"chosen"}).output("chosen");
  GraphBuilder no;
  no.node("Identity", {"next"}, {"other"}).output("other");
  GraphBuilder body = doubling();
  body.node("If", {"before"}, {"shown"}, {yes.as("then_branch"), no.as("else_branch")})
      .node("Concat", {"all", "next"}, {"longer"}, {axis(0)})
      .output("goes_on")
      .output("next")
      .output("longer")
      .output("shown");
  expect_left(body);
}

TEST_F(GrowingStates, are_left_alone_if_something_else_is_done_to_them) {
  GraphBuilder body = doubling();
  body.node("Concat", {"all", "next"}, {"more"}, {axis(0)})
      .node("Neg", {"more"}, {"longer"})
      .output("goes_on")
      .output("next")
      .output("longer");
  expect_left(body);
}

TEST_F(GrowingStates, are_left_alone_if_their_type_is_not_certain_to_be_of_numbers) {
  GraphBuilder graph;
  graph.input("x", {1, 2})
      .input("start", {"n", 2}, ElementType::string)
      .constant("rounds", integers({3}))
      .node("Loop", {"rounds", "", "x", "start"}, {"last", "grown"},
            {appending({"all", "next"}, 0).as("body")})
      .output("grown");
  EXPECT_EQ(loop_of(graph.graph).op, "Loop");
}

}  // namespace
}  // namespace stoker::onnx
