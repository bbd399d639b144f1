// Functions of a model, which are inlined.
#include "message.hpp"

namespace stoker::onnx {
namespace {

Message function(std::string_view name, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs, const Nodes& nodes) {
  return Message{}
      .text(1, name)
      .texts(4, inputs)
      .texts(5, outputs)
      .messages(7, nodes.all)
      .message(9, opset("", 13))
      .message(9, opset("own", 1))
      .text(10, "own");
}
Message model_with(const Message& graph, const std::vector<Message>& functions) {
  return model(graph).message(8, opset("own", 1)).messages(25, functions);
}
Nodes call(std::string_view name, const std::vector<std::string>& inputs,
           const std::vector<std::string>& outputs, const std::vector<Message>& attributes = {}) {
  return node(name, inputs, outputs, attributes, "own");
}
/// "b=Op(a) ; …" for each node.
std::string text_of(const Graph& graph) {
  std::string all;
  for (const Node& each : graph.nodes) {
    for (const std::string& output : each.outputs) all += output + ' ';
    all += "= " + each.op;
    for (const std::string& input : each.inputs) all += ' ' + (input.empty() ? "-" : input);
    all += '\n';
  }
  return all;
}
std::string inlined(const Message& model) {
  const Result<ModelFile> result = read(model);
  EXPECT_TRUE(result) << result.error().what();
  return result ? text_of(result->graph) : std::string{};
}

TEST(OnnxFunctions, become_their_nodes_with_versions_of_their_own) {
  const Message square =
      function("Square", {"a"}, {"b"}, node("Neg", {"a"}, {"t"}).add("Mul", {"t", "t"}, {"b"}));
  const ModelFile read_it =
      read(model_with(graph(call("Square", {"x"}, {"m"}).add("Square", {"m"}, {"y"}, {}, "own"),
                            {"x"}, {"y"}),
                      {square}))
          .value();
  EXPECT_EQ(text_of(read_it.graph),
            "inlined1:t = Neg x\nm = Mul inlined1:t inlined1:t\n"
            "inlined2:t = Neg m\ny = Mul inlined2:t inlined2:t\n");
  EXPECT_TRUE(read_it.functions.empty());
  for (const Node& each : read_it.graph.nodes) EXPECT_EQ(each.opset, 13);
}

TEST(OnnxFunctions, keep_away_from_names_of_the_model) {
  EXPECT_EQ(inlined(model_with(
                graph(node("Neg", {"x"}, {"inlined1:t"}).add("F", {"inlined1:t"}, {"y"}, {}, "own"),
                      {"x"}, {"y"}),
                {function("F", {"a"}, {"b"}, node("Neg", {"a"}, {"t"}).add("Neg", {"t"}, {"b"}))})),
            "inlined1:t = Neg x\ninlined_1:t = Neg inlined1:t\ny = Neg inlined_1:t\n");
}

TEST(OnnxFunctions, call_each_other) {
  const Message outer =
      function("Outer", {"a"}, {"b"}, call("Inner", {"a"}, {"t"}).add("Neg", {"t"}, {"b"}));
  const Message inner = function("Inner", {"a"}, {"b"}, node("Abs", {"a"}, {"b"}));
  EXPECT_EQ(inlined(model_with(graph(call("Outer", {"x"}, {"y"}), {"x"}, {"y"}), {outer, inner})),
            "inlined1:t = Abs x\ny = Neg inlined1:t\n");
}

TEST(OnnxFunctions, that_call_themselves_are_refused) {
  const Message a = function("A", {"x"}, {"y"}, call("B", {"x"}, {"y"}));
  const Message b = function("B", {"x"}, {"y"}, call("A", {"x"}, {"y"}));
  EXPECT_NE(refusal(model_with(graph(call("A", {"x"}, {"y"}), {"x"}, {"y"}), {a, b}))
                .find("function 'A': calls itself"),
            std::string::npos);
  const Message own = function("F", {"x"}, {"y"}, call("F", {"x"}, {"y"}));
  EXPECT_NE(refusal(model_with(graph({}, {}, {}), {own})).find("function 'F': calls itself"),
            std::string::npos)
      << "though nothing calls it";
  // A chain that does not close is none, whatever the order; "End" is called twice.
  std::vector<Message> chain{function("End", {"x"}, {"y"}, node("Neg", {"x"}, {"y"}))};
  for (const std::string name : {"Left", "Right"})
    chain.push_back(function(name, {"x"}, {"y"}, call("End", {"x"}, {"y"})));
  chain.push_back(function("Top", {"x"}, {"y"},
                           call("Left", {"x"}, {"t"}).add("Right", {"t"}, {"y"}, {}, "own")));
  EXPECT_EQ(inlined(model_with(graph(call("Top", {"x"}, {"y"}), {"x"}, {"y"}), chain)),
            "inlined1:t = Neg x\ny = Neg inlined1:t\n");
  chain[0] = function("End", {"x"}, {"y"}, call("Top", {"x"}, {"y"}));
  EXPECT_NE(refusal(model_with(graph({}, {}, {}), chain)).find("calls itself"), std::string::npos);
}

TEST(OnnxFunctions, are_told_with_all_else_that_is_wrong) {
  const Message own = function("F", {"x"}, {"y"}, call("F", {"x", "x"}, {"y"}));
  const Error error =
      read(model_with(graph(call("F", {"none"}, {"y", "z"}), {}, {}), {own})).error();
  EXPECT_EQ(error.reason(), "4 things are wrong");
}

TEST(OnnxFunctions, take_attributes_of_the_call_and_their_defaults) {
  const auto refers = [](std::string_view name, std::string_view to) {
    return Message{}.text(1, name).text(21, to).integer(20, 2);
  };
  const auto given = [](std::string_view name, std::int64_t value) {
    return Message{}.text(1, name).integer(3, value).integer(20, 2);
  };
  const Message inside = graph(node("Op", {"a"}, {"r"}, {refers("deep", "p")}), {}, {"r"});
  Message with = function("F", {"a"}, {"b"},
                          node("Op", {"a"}, {"b"},
                               {refers("one", "p"), refers("two", "q"), refers("three", "r"),
                                graph_attribute("g", inside)}));
  with.text(6, "p").text(6, "r").message(11, given("q", 5));
  const ModelFile read_it =
      read(model_with(graph(call("F", {"x"}, {"y"}, {given("p", 3)}), {"x"}, {"y"}), {with}))
          .value();
  const Node& op = read_it.graph.nodes.at(0);
  EXPECT_EQ(op.integer("one"), 3);
  EXPECT_EQ(op.integer("two"), 5);
  EXPECT_FALSE(op.has("three")) << "neither given nor with a default";
  EXPECT_EQ(op.graph("g").nodes.at(0).integer("deep"), 3);
  EXPECT_EQ(text_of(op.graph("g")), "inlined1:r = Op x\n");
  EXPECT_EQ(op.graph("g").outputs.at(0).name, "inlined1:r");
}

TEST(OnnxFunctions, have_defaults_that_are_checked_and_inlined_like_the_rest) {
  const auto with_default = [](const Message& value) {
    const Message refers = Message{}.text(1, "g").text(21, "p").integer(20, 5);
    return model_with(
        graph(call("F", {"x"}, {"y"}), {"x"}, {"y"}),
        {function("F", {"a"}, {"b"}, node("Op", {"a"}, {"b"}, {refers})).message(11, value),
         function("One", {}, {"b"}, node("Constant", {}, {"b"}))});
  };
  const ModelFile read_it =
      read(with_default(graph_attribute("p", graph(call("One", {}, {"r"}), {}, {"r"})))).value();
  const Graph& inner = read_it.graph.nodes.at(0).graph("g");
  EXPECT_EQ(text_of(inner), "inlined1:r = Constant\n");
  EXPECT_EQ(inner.outputs.at(0).name, "inlined1:r");
  EXPECT_NE(refusal(with_default(graph_attribute("p", graph(node("Neg", {"a"}, {"r"}), {}, {"r"}))))
                .find("attribute 'p', the node of 'r' (Neg): reads 'a', which nothing writes"),
            std::string::npos)
      << "a default reads no value of its function";
  EXPECT_NE(refusal(with_default(Message{}.text(1, "p").text(21, "q").integer(20, 5)))
                .find("the default of attribute 'p' refers to another attribute"),
            std::string::npos);
  const Message one = Message{}.text(1, "p").integer(3, 1).integer(20, 2);
  EXPECT_NE(refusal(with_default(one).message(
                        25, function("G", {}, {}, {}).message(11, one).message(11, one)))
                .find("attribute 'p' has two defaults"),
            std::string::npos);
}

TEST(OnnxFunctions, still_read_an_outer_value_that_their_result_hides) {
  const Message f =
      function("F", {"a"}, {"b"}, node("Neg", {"a"}, {"b"}).add("Add", {"a", "b"}, {"c"}));
  const Message branch = graph(call("F", {"x"}, {"x"}), {}, {"x"});
  const ModelFile read_it =
      read(model_with(graph(node("If", {"x"}, {"y"}, {graph_attribute("g", branch)}), {"x"}, {"y"}),
                      {f}))
          .value();
  EXPECT_EQ(text_of(read_it.graph.nodes.at(0).graph("g")),
            "inlined1:b = Neg x\ninlined1:c = Add x inlined1:b\nx = Identity inlined1:b\n");
}

TEST(OnnxFunctions, may_be_called_with_less_and_give_what_they_took) {
  const Message less = function("Less", {"a", "c"}, {"b", "d"}, node("Op", {"a", "c"}, {"b", "d"}));
  EXPECT_EQ(inlined(model_with(graph(call("Less", {"x"}, {"y"}), {"x"}, {"y"}), {less})),
            "y inlined1:d = Op x -\n");
  const Message same = function("Same", {"a"}, {"a", "b", "b"}, node("Neg", {"a"}, {"b"}));
  EXPECT_EQ(inlined(model_with(graph(call("Same", {"x"}, {"y", "z", "u"}), {"x"}, {"y", "z", "u"}),
                               {same})),
            "z = Neg x\ny = Identity x\nu = Identity z\n");
  EXPECT_NE(refusal(model_with(graph(call("Same", {"x", "x"}, {"y"}), {"x"}, {"y"}), {same}))
                .find("the function takes 1 inputs"),
            std::string::npos);
}

TEST(OnnxFunctions, are_called_from_graphs_within_nodes) {
  const Message f = function("F", {"a"}, {"b"}, node("Neg", {"a"}, {"b"}));
  const Message branch = graph(call("F", {"x"}, {"r"}), {}, {"r"});
  const ModelFile read_it =
      read(model_with(graph(node("If", {"x"}, {"y"}, {graph_attribute("g", branch)}), {"x"}, {"y"}),
                      {f}))
          .value();
  EXPECT_EQ(text_of(read_it.graph.nodes.at(0).graph("g")), "r = Neg x\n");
}

TEST(OnnxFunctions, that_grow_without_bound_are_refused) {
  std::vector<Message> functions{function("F0", {"a"}, {"b"}, node("Neg", {"a"}, {"b"}))};
  for (int i = 1; i < 40; ++i) {
    const std::string below = "F" + std::to_string(i - 1);
    functions.push_back(function("F" + std::to_string(i), {"a"}, {"b"},
                                 call(below, {"a"}, {"t"}).add(below, {"t"}, {"b"}, {}, "own")));
  }
  const Message file = model_with(graph(call("F39", {"x"}, {"y"}), {"x"}, {"y"}), functions);
  EXPECT_NE(refusal(file, ErrorCode::limit_exceeded, {.limits = {.nodes = 10'000}}).find("inlined"),
            std::string::npos);
  EXPECT_NE(refusal(file, ErrorCode::limit_exceeded, {.limits = {.nesting = 20}}).find("deeper"),
            std::string::npos);
}

/// 2^11 calls of a function.
Message many_calls(const Message& leaf, const std::string& input = "x") {
  std::vector<Message> functions{leaf};
  for (int i = 1; i < 12; ++i) {
    const std::string below = "F" + std::to_string(i - 1);
    functions.push_back(function("F" + std::to_string(i), {"a"}, {"b"},
                                 call(below, {"a"}, {"t"}).add(below, {"a"}, {"b"}, {}, "own")));
  }
  return model_with(graph(call("F11", {input}, {"y"}), {input}, {"y"}), functions);
}

TEST(OnnxFunctions, multiply_only_so_many_bytes) {
  const auto leaf = [](const std::vector<Message>& attributes,
                       std::vector<std::string> inputs = {"a"}) {
    return function("F0", inputs, {"b"}, node("Op", {"a"}, {"b"}, attributes));
  };
  const ReadOptions options{.limits = {.inlined_bytes = 8U << 20U}};
  EXPECT_TRUE(read(many_calls(leaf({})), options));
  const std::vector<std::int64_t> much(1000, 1);
  Message values;
  for (int i = 0; i < 100; ++i) values.message(13, floats("v" + std::to_string(i)));
  std::vector<std::string> wide{"a"};
  for (int i = 0; i < 100; ++i) wide.push_back("p" + std::to_string(i));
  Message named = leaf({});
  named.fields[3].inside[0].text(3, std::string(5000, 'n'));
  for (const Message& file :
       {many_calls(leaf({Message{}.text(1, "l").packed(8, much).integer(20, 7)})),
        many_calls(leaf({Message{}.text(1, "s").text(4, std::string(5000, 's')).integer(20, 3)})),
        many_calls(leaf({graph_attribute("g", values)})), many_calls(leaf({}, wide)),
        many_calls(named), many_calls(leaf({}), std::string(5000, 'x'))}) {
    EXPECT_TRUE(read(file)) << "within the standard limits";
    EXPECT_NE(refusal(file, ErrorCode::limit_exceeded, options).find("limit=inlined_bytes"),
              std::string::npos);
  }
}

TEST(OnnxFunctions, are_in_order_like_graphs) {
  const Message bad = function("F", {"a"}, {"b"}, node("Neg", {"c"}, {"b"}));
  EXPECT_NE(refusal(model_with(graph({}, {}, {}), {bad, bad}))
                .find("function 'F', the node of 'b' (Neg)=reads 'c', which nothing writes"),
            std::string::npos);
  EXPECT_NE(
      refusal(model_with(graph({}, {}, {}), {bad, bad})).find("function 'F'=is defined twice"),
      std::string::npos);
}

TEST(OnnxFunctions, are_called_by_domain_and_name) {
  const Message f = function("F", {"a"}, {"b"}, node("Neg", {"a"}, {"b"}));
  const auto calls = [&](std::string_view domain) {
    return model(graph(node("F", {"x"}, {"y"}, {}, domain), {"x"}, {"y"})).message(25, f);
  };
  EXPECT_EQ(inlined(calls("own")), "y = Neg x\n") << "a function's domain need not be imported";
  EXPECT_NE(refusal(calls("other")).find("domain 'other' is not imported"), std::string::npos);
  const Message other =
      model(graph(node(std::string_view{"b\0F", 3}, {"x"}, {"y"}, {}, "a"), {"x"}, {"y"}))
          .message(25, function("F", {"a"}, {"b"}, node("Neg", {"a"}, {"b"}))
                           .text(10, std::string_view{"a\0b", 3}));
  EXPECT_NE(refusal(other).find("domain 'a' is not imported"), std::string::npos)
      << "names may hold any byte";
}

}  // namespace
}  // namespace stoker::onnx
