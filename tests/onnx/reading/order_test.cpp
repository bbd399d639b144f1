// What a graph must keep, and how all that it breaks is told.
#include "message.hpp"

namespace stoker::onnx {
namespace {

/// What stands in the refusal of the graph.
void expect_told(const Message& graph, std::string_view what) {
  const std::string why = refusal(model(graph));
  EXPECT_NE(why.find(what), std::string::npos) << why;
}

TEST(OnnxOrder, names_what_nothing_writes_and_what_is_near) {
  expect_told(
      graph(node("Relu", {"hiden"}, {"y"}), {"hidden"}, {"y"}),
      "the node of 'y' (Relu): reads 'hiden', which nothing writes; did you mean 'hidden'?");
  expect_told(graph({}, {}, {"y"}), "the outputs: reads 'y', which nothing writes");
}

TEST(OnnxOrder, names_what_is_written_later) {
  expect_told(graph(node("Relu", {"a"}, {"y"}).add("Relu", {"x"}, {"a"}), {"x"}, {"y"}),
              "reads 'a', which the node of 'a' (Relu) writes later: the nodes are not in order");
  expect_told(graph(node("Relu", {"a"}, {"a"}), {"x"}, {}), "writes later");
}

TEST(OnnxOrder, lets_each_name_be_written_once) {
  expect_told(graph(node("Relu", {"x"}, {"y"}).add("Relu", {"x"}, {"y"}), {"x"}, {"y"}),
              "'y' is written a second time");
  expect_told(graph(node("Relu", {"x"}, {"x"}), {"x"}, {}), "'x' is written a second time");
  expect_told(graph(node("Relu", {"x"}, {"w"}), {"x"}, {}, {float_tensor("w", {1})}),
              "'w' is written a second time");
  expect_told(graph({}, {"x", "x"}, {}), "the inputs: 'x' is written a second time");
  expect_told(graph({}, {}, {}, {float_tensor("w", {1}), float_tensor("w", {1})}),
              "two are called 'w'");
  expect_told(graph({}, {"x"}, {"x", "x"}), "the outputs: two are called 'x'");
}

TEST(OnnxOrder, wants_names_where_they_are_needed) {
  expect_told(graph({}, {""}, {}), "the inputs: one has no name");
  expect_told(graph({}, {}, {}, {float_tensor("", {1})}), "the initializers: one has no name");
  expect_told(graph(node("", {}, {"y"}), {}, {}), "names no operator");
}

TEST(OnnxOrder, holds_for_graphs_within_nodes_which_read_those_around_them) {
  const auto with = [](const Message& branch) {
    return graph(node("Relu", {"x"}, {"a"})
                     .add("If", {"x"}, {"y"}, {graph_attribute("then_branch", branch)}),
                 {"x"}, {"y"});
  };
  EXPECT_TRUE(read(model(with(graph(node("Add", {"a", "x"}, {"b"}), {}, {"b"})))));
  EXPECT_TRUE(read(model(with(graph({}, {}, {"a"}))))) << "what a branch gives may lie outside";
  EXPECT_TRUE(read(model(with(graph(node("Relu", {"x"}, {"a"}), {}, {"a"})))))
      << "a name of the outer graph may be used again";
  expect_told(with(graph(node("Relu", {"y"}, {"b"}), {}, {"b"})),
              "the node of 'y' (If), attribute 'then_branch', the node of 'b' (Relu)=reads 'y'");
  EXPECT_NE(
      refusal(model(graph(node("If", {"x"}, {"y"},
                               {graph_attribute("g", graph(node("Relu", {"x"}, {"b"}), {}, {}))})
                              .add("Relu", {"b"}, {"z"}),
                          {"x"}, {"y"}))),
      "")
      << "the names of a branch are its own";
}

TEST(OnnxOrder, wants_the_domain_of_each_operator) {
  expect_told(graph(node("Gelu", {"x"}, {"y"}, {}, "com.example"), {"x"}, {"y"}),
              "the node of 'y' (com.example.Gelu): domain 'com.example' is not imported");
  Message twice = model(graph({}, {}, {}));
  EXPECT_TRUE(read(twice.message(8, opset("ai.onnx", 17)))) << "said twice, the same";
  EXPECT_NE(refusal(twice.message(8, opset("", 18))).find("versions 17 and 18 are imported"),
            std::string::npos);
  EXPECT_NE(refusal(model(graph({}, {}, {})).message(8, opset("x", 0))), "");
}

TEST(OnnxAttributes, that_contradict_themselves_are_refused) {
  const auto with = [](const std::vector<Message>& attributes) {
    return graph(node("Op", {}, {"y"}, attributes), {}, {"y"});
  };
  const Message one = Message{}.text(1, "a").integer(3, 1).integer(20, 2);
  expect_told(with({one, one}), "attribute 'a' occurs twice");
  expect_told(with({Message(one).real(2, 1)}), "attribute 'a': has values of several kinds");
  expect_told(with({Message{}.text(1, "a").integer(3, 1).integer(20, 1)}),
              "has a value of another kind than it says");
  expect_told(with({Message{}.text(1, "a").integer(20, 15)}), "no kind of attribute has number 15");
  expect_told(with({Message{}.text(1, "a").integer(20, 4)}), "has no value");
  expect_told(with({Message{}.text(1, "a")}), "has neither a kind nor a value");
  expect_told(with({Message{}.text(1, "a").text(21, "b").integer(20, 2)}),
              "attribute 'a' refers to 'b', which no function around it has");
}

TEST(OnnxFindings, are_one_error_with_all_of_them) {
  Nodes nodes;
  for (int i = 0; i < 100; ++i) nodes.add("Relu", {"none"}, {"y" + std::to_string(i)});
  const Result<ModelFile> result =
      read(model(graph(nodes, {}, {}, {raw_tensor("w", ElementType::f32, {1}, "a")})));
  const Error& error = result.error();
  EXPECT_EQ(error.reason(), "101 things are wrong");
  EXPECT_EQ(error.details().size(), 1 + 64 + 1U);
  EXPECT_EQ(error.detail("tensor 'w'"), "float[1] needs 4 bytes, has 1");
  EXPECT_EQ(error.detail("the node of 'y62' (Relu)"), "reads 'none', which nothing writes");
  EXPECT_EQ(error.detail("not listed"), "37");
}

TEST(OnnxFindings, show_the_beginnings_of_long_names) {
  const std::string name(50'000, 'n');
  Message inner = graph(node("Relu", {name}, {"y"}), {}, {});
  for (int i = 0; i < 20; ++i) {
    Nodes nodes = node("If", {}, {"o"}, {graph_attribute(name, inner)});
    nodes.all[0].text(3, name);
    inner = graph(nodes, {}, {});
  }
  const std::string why = refusal(model(inner));
  EXPECT_NE(why.find("nn...', which nothing writes"), std::string::npos);
  EXPECT_LT(why.size(), 50'000U);
}

TEST(OnnxFindings, show_text_that_is_not_utf8_escaped) {
  expect_told(graph(node("R\x1b", {"\xff"}, {"y\n\x80"}), {}, {}),
              "the node of 'y\n\\x80' (R\\x1b): reads '\\xff', which nothing writes");
}

}  // namespace
}  // namespace stoker::onnx
