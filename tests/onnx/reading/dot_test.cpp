// Graphs as Graphviz draws them.
#include <gtest/gtest.h>

#include "stoker/pipeline/onnx/graph/graph_dot.hpp"

namespace stoker::onnx {
namespace {

Node made_node(std::string op, std::vector<std::string> inputs, std::vector<std::string> outputs,
               std::string name = {}) {
  Node made;
  made.op = std::move(op);
  made.name = std::move(name);
  made.inputs = std::move(inputs);
  made.outputs = std::move(outputs);
  return made;
}
ValueInfo made_value(std::string name) { return {.name = std::move(name), .type = {}, .doc = {}}; }

TEST(GraphDot, draws_an_edge_for_each_value_that_is_read) {
  Graph graph;
  graph.inputs = {made_value("x"), made_value("w")};
  graph.outputs = {made_value("y")};
  graph.initializers = {{"w", {}}};
  graph.nodes = {made_node("Add", {"x", "w"}, {"a"}, "first"), made_node("Relu", {"a"}, {"y"})};
  EXPECT_EQ(graph_dot(graph),
            "digraph model {\n"
            "  node [shape=box];\n"
            "  n0 [shape=oval, label=\"x\\nunknown\"];\n"
            "  n1 [label=\"Add\\nfirst\"];\n"
            "  n2 [label=\"Relu\"];\n"
            "  n3 [shape=oval, label=\"y\\nunknown\"];\n"
            "  n0 -> n1 [label=\"x\"];\n"
            "  n1 -> n2 [label=\"a\"];\n"
            "  n2 -> n3 [label=\"y\"];\n"
            "}\n");
}

TEST(GraphDot, graphs_within_nodes_are_clusters) {
  Graph inner;
  inner.outputs = {made_value("z")};
  inner.nodes = {made_node("Neg", {"x"}, {"z"})};
  Graph graph;
  graph.inputs = {made_value("c"), made_value("x")};
  graph.outputs = {made_value("y")};
  graph.nodes = {made_node("If", {"c"}, {"y"})};
  graph.nodes[0].attributes = {
      {.name = "then_branch", .value = std::make_shared<const Graph>(inner), .reference = {}}};
  const std::string dot = graph_dot(graph);
  const std::size_t cluster =
      dot.find("  subgraph cluster_3 {\n    label=\"then_branch of n2\";\n");
  EXPECT_NE(cluster, std::string::npos) << dot;
  const std::size_t edge = dot.find("  n1 -> n4 [label=\"x\"];\n");
  EXPECT_NE(edge, std::string::npos) << dot;
  EXPECT_GT(edge, dot.rfind("n5 [shape=oval")) << "an edge within the cluster draws x there";
}

TEST(GraphDot, names_cannot_end_the_text_that_they_stand_in) {
  Graph graph;
  graph.inputs = {made_value("a\"];\nb\\\xff")};
  EXPECT_NE(graph_dot(graph).find("label=\"a\\\"];\\nb\\\\\\\\xff\\nunknown\"];\n"),
            std::string::npos)
      << graph_dot(graph);
}

}  // namespace
}  // namespace stoker::onnx
