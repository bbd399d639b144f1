// `stoker onnx info`: what a model's file holds and how it would run.
#include <gtest/gtest.h>

#include "command_folder.hpp"
#include "stoker/tests/onnx/reading/message.hpp"

namespace stoker {
namespace {

using onnx::ElementType;

class OnnxInfo : public CommandFolder {
 protected:
  void write_model(const onnx::Message& message) const { write("m.onnx", message.bytes()); }
  [[nodiscard]] CommandResult info(std::vector<std::string> words = {}) const {
    words.insert(words.begin(), {"onnx", "info", "m.onnx"});
    return stoker_command(words, directory.string());
  }
  [[nodiscard]] CommandResult plan(std::vector<std::string> words = {}) const {
    words.insert(words.end(), {"--plan", "--device", "cpu"});
    return info(std::move(words));
  }

  static onnx::Message symbol(const char* name) { return onnx::Message{}.text(2, name); }
  static onnx::Message extent(std::int64_t known) { return onnx::Message{}.integer(1, known); }
  /// The positives of x, of which only a run knows how many there are, and twice the weights.
  static onnx::Message positives() {
    onnx::Message graph;
    graph
        .messages(1, onnx::node("Greater", {"x", "zero"}, {"is_positive"})
                         .add("Compress", {"x", "is_positive"}, {"some"})
                         .add("Add", {"weights", "weights"}, {"y"})
                         .all)
        .text(2, "main")
        .message(5, onnx::float_tensor("zero", {0}))
        .message(11, onnx::value_info("x", onnx::tensor_type(ElementType::f32, {symbol("batch")})))
        .message(11, onnx::value_info("weights", onnx::tensor_type(ElementType::f32,
                                                                   {symbol("batch"), extent(2)})))
        .message(12, onnx::value_info("some", onnx::tensor_type(ElementType::f32, {symbol("n")})))
        .message(12, onnx::floats("y"));
    return onnx::model(std::move(graph))
        .text(2, "a converter")
        .text(3, "1.2")
        .message(14, onnx::Message{}.text(1, "author").text(2, "somebody"));
  }
  /// y = x - the mean of x over an axis.
  static onnx::Message centred(std::int64_t axis, const std::vector<onnx::Message>& dims) {
    const onnx::Message shape = onnx::tensor_type(ElementType::f32, dims);
    const onnx::Message axes = onnx::Message{}.text(1, "axes").integer(8, axis).integer(20, 7);
    onnx::Message graph;
    graph
        .messages(
            1,
            onnx::node("ReduceMean", {"x"}, {"mean"}, {axes}).add("Sub", {"x", "mean"}, {"y"}).all)
        .message(11, onnx::value_info("x", shape))
        .message(12, onnx::value_info("y", shape));
    return onnx::model(std::move(graph));
  }
};

TEST_F(OnnxInfo, says_what_a_file_holds) {
  write_model(positives());
  const CommandResult result = info();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out,
            "producer    a converter 1.2\n"
            "versions    IR 8, ai.onnx 17\n"
            "graph       main\n"
            "metadata    author = somebody\n"
            "inputs\n"
            "  x        float[batch]\n"
            "  weights  float[batch,2]\n"
            "outputs\n"
            "  some  float[n]\n"
            "  y     float[2]\n"
            "first axis of the inputs: free (batch)\n"
            "parameters: 1 tensor, 1 element, 4 bytes\n"
            "operators: 3, in 3 nodes\n"
            "  Add 14       1\n"
            "  Compress 11  1\n"
            "  Greater 13   1\n"
            "all nodes are supported\n");
}

TEST_F(OnnxInfo, plans_the_graph_as_far_as_it_is_rewritten) {
  write_model(onnx::model(
      onnx::graph(onnx::node("Identity", {"x"}, {"a"}).add("Abs", {"a"}, {"y"}), {"x"}, {"y"})));
  const auto nodes = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all{"--json"};
    all.insert(all.end(), words.begin(), words.end());
    return parsed(plan(all))["plan"]["nodes"];
  };
  EXPECT_EQ(nodes({"--optimize", "none"}), 2);
  EXPECT_EQ(nodes({"--without", "identity"}), 2);
  EXPECT_EQ(nodes({}), 1);
  const CommandResult unknown = plan({"--without", "batchnorm"});
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_TRUE(contains(unknown.err, "there is no pass 'batchnorm'")) << unknown.err;
  EXPECT_EQ(info({"--optimize", "none"}).exit_code, 2) << "without --plan it means nothing";
}

TEST_F(OnnxInfo, says_what_stays_in_f32) {
  write_model(onnx::model(
      onnx::graph(onnx::node("MatMul", {"x", "x"}, {"m"}).add("Exp", {"m"}, {"y"}), {"x"}, {"y"})));
  const CommandResult text = info({"--precision", "f16", "--device", "vulkan"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_TRUE(
      text.out.ends_with("in f16: 1 node, 0 constants of 0 bytes\n"
                         "kept in f32:\n"
                         "  Exp, 1 node: it is sensitive to rounding (the node of 'y' "
                         "(Exp))\n"))
      << text.out;
  EXPECT_TRUE(contains(info({"--precision", "f16", "--device", "cpu"}).out,
                       "MatMul, 1 node: the device does not gain"));
  const auto all = parsed(info({"--plan", "--device", "vulkan", "--json", "--precision", "bf16"}));
  EXPECT_EQ(all["precision"]["precision"], "bf16");
  EXPECT_EQ(all["precision"]["nodes"], 1);
  EXPECT_EQ(all["precision"]["kept"][0]["operator"], "Exp");
  EXPECT_EQ(all["precision"]["kept"][0]["why"], "it is sensitive to rounding");
  EXPECT_EQ(all["plan"]["nodes"], 4) << "two of them are casts";
  EXPECT_FALSE(parsed(info({"--json"})).contains("precision"));
  const CommandResult wrong = info({"--precision", "half"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(contains(wrong.err, "full,f16,bf16")) << wrong.err;
}

TEST_F(OnnxInfo, says_along_which_axes_requests_would_be_joined) {
  write_model(centred(1, {symbol("batch"), extent(3)}));
  const CommandResult text = info({"--batching", "--device", "cpu"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_TRUE(
      text.out.ends_with("all nodes are supported\n"
                         "batching: requests are joined\n"
                         "  input 'x' along axis 0\n"
                         "  output 'y' along axis 0\n"))
      << text.out;
  const auto all = parsed(info({"--batching", "--json", "--device", "cpu"}));
  EXPECT_EQ(all["batching"],
            (nlohmann::json{{"joins", true}, {"inputs", {{"x", 0}}}, {"outputs", {{"y", 0}}}}));
  EXPECT_FALSE(all.contains("plan"));
  EXPECT_FALSE(parsed(info({"--json"})).contains("batching"));
}

TEST_F(OnnxInfo, says_why_requests_would_run_one_at_a_time) {
  const auto why = [&](const onnx::Message& model) {
    write_model(model);
    const auto batching = parsed(info({"--batching", "--json", "--device", "cpu"}))["batching"];
    EXPECT_EQ(batching["joins"], false);
    return batching["why"];
  };
  EXPECT_EQ(why(centred(0, {symbol("batch"), extent(3)})),
            "rows of output 'y' depend on the rows beside them, or on chance");
  EXPECT_EQ(why(centred(1, {extent(2), extent(3)})), "input 'x' has no free first dimension");
  const CommandResult text = info({"--batching", "--device", "cpu"});
  EXPECT_TRUE(text.out.ends_with(
      "batching: requests run one at a time: input 'x' has no free first dimension\n"))
      << text.out;
}

TEST_F(OnnxInfo, takes_the_extents_for_its_check_from_the_words) {
  write_model(centred(1, {symbol("batch"), symbol("width")}));
  const auto batching = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--batching", "--json", "--device", "cpu"});
    return parsed(info(std::move(words)))["batching"];
  };
  EXPECT_EQ(batching({})["why"], "input 'x' has another free dimension, and there is no sample");
  EXPECT_EQ(batching({"--shape", "x=1x4"})["joins"], true);
  EXPECT_EQ(batching({"--input", "x=zeros:2x4"})["joins"], true);
  EXPECT_EQ(info({"--shape", "x=1x4"}).exit_code, 2) << "without a run it means nothing";
}

TEST_F(OnnxInfo, gives_the_same_as_json) {
  write_model(positives());
  const auto all = parsed(info({"--json"}));
  EXPECT_EQ(all["producer"], "a converter");
  EXPECT_EQ(all["opsets"]["ai.onnx"], 17);
  EXPECT_EQ(all["metadata"]["author"], "somebody");
  EXPECT_EQ(all["inputs"][1]["name"], "weights");
  EXPECT_EQ(all["inputs"][1]["element"], "float");
  EXPECT_EQ(all["inputs"][1]["dims"], (nlohmann::json{"batch", 2}));
  EXPECT_EQ(all["inputs"][1]["has_default"], false);
  EXPECT_EQ(all["first_axis"], (nlohmann::json{{"kind", "free"}, {"symbol", "batch"}}));
  EXPECT_EQ(all["parameters"]["bytes"], 4);
  EXPECT_EQ(
      all["operators"][0],
      (nlohmann::json{{"domain", "ai.onnx"}, {"name", "Add"}, {"version", 14}, {"count", 1}}));
  EXPECT_EQ(all["unsupported"], nlohmann::json::array());
  EXPECT_FALSE(all.contains("plan"));
}

TEST_F(OnnxInfo, describes_a_model_that_is_not_supported) {
  write_model(onnx::model(onnx::graph(onnx::node("Foo", {"x"}, {"y"}), {"x"}, {"y"})));
  const CommandResult result = info();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_TRUE(contains(result.out, "inputs\n  x  float[2]\n")) << result.out;
  EXPECT_TRUE(contains(result.out,
                       "not supported: 1 of 1 node\n"
                       "  the node of 'y' (Foo), domain 'ai.onnx', opset 17: there is no such "
                       "operator\n"))
      << result.out;
  const auto all = parsed(info({"--json", "--plan"}));
  EXPECT_EQ(all["unsupported"][0]["operator"], "Foo");
  EXPECT_EQ(all["unsupported"][0]["why"], "there is no such operator");
  EXPECT_FALSE(all.contains("plan"));
}

TEST_F(OnnxInfo, aligns_the_columns_of_long_names) {
  const std::string domain = "com.example.operators";
  onnx::Message model = onnx::model(onnx::graph(
      onnx::node("ALongNameOfAnOperator", {"x"}, {"a"}, {}, domain).add("Abs", {"a"}, {"y"}), {"x"},
      {"y"}));
  write_model(model.message(8, onnx::opset(domain, 1)));
  const CommandResult result = info();
  EXPECT_TRUE(contains(result.out,
                       "\n  Abs 13                                       1\n"
                       "  com.example.operators.ALongNameOfAnOperator  1\n"))
      << result.out;
}

TEST_F(OnnxInfo, shows_text_that_is_none_escaped) {
  write_model(onnx::model(onnx::graph(onnx::node("Abs", {"x"}, {"y"}), {"x"}, {"y"}))
                  .text(2, "\x1b[31m\xff\nall nodes"));
  const CommandResult result = info();
  EXPECT_TRUE(result.out.starts_with("producer    \\x1b[31m\\xff\\nall nodes")) << result.out;
  EXPECT_EQ(parsed(info({"--json"}))["producer"], "\\x1b[31m\\xff\nall nodes");
}

TEST_F(OnnxInfo, shows_the_segments_of_a_plan) {
  write_model(positives());
  const CommandResult result = plan({"--shape", "x=3"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "plan: 2 segments for 3 nodes\nsegment 1: ")) << result.out;
  EXPECT_TRUE(contains(result.out, "cut: the node of 'some' (Compress) reads ")) << result.out;
  EXPECT_TRUE(contains(result.out, "f32[3,2]")) << "of weights, whose batch is that of x\n"
                                                << result.out;
  const auto segments = parsed(plan({"--json", "--shape", "x=3"}))["plan"]["segments"];
  ASSERT_EQ(segments.size(), 2U);
  EXPECT_TRUE(contains(segments[0]["cut"]["node"].get<std::string>(), "(Compress)"));
  EXPECT_EQ(segments[1]["cut"], nullptr);
  EXPECT_GE(segments[0]["kernels"], 1);
  EXPECT_EQ(segments[0]["steps"][0]["kernels"].size(), segments[0]["kernels"]);
}

TEST_F(OnnxInfo, plans_for_the_values_of_inputs_that_decide_about_shapes) {
  onnx::Message graph;
  graph.messages(1, onnx::node("TopK", {"x", "k"}, {"y", "places"}).all)
      .text(2, "main")
      .message(11, onnx::value_info("x", onnx::tensor_type(ElementType::f32, {symbol("n")})))
      .message(11, onnx::value_info("k", onnx::tensor_type(ElementType::s64, {extent(1)})))
      .message(12, onnx::value_info("y", onnx::tensor_type(ElementType::f32, {symbol("m")})));
  write_model(onnx::model(std::move(graph)));
  write("k.pb", onnx::Message{}.integer(1, 1).integer(2, 7).packed(7, {3}).bytes());
  const CommandResult result = plan({"--shape", "x=5", "--input", "k=k.pb"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "f32[3]")) << result.out;
  const CommandResult both = plan({"--input", "x=zeros:5", "--input", "k=k.pb"});
  EXPECT_TRUE(contains(both.out, "f32[3]")) << both.out << both.err;
  EXPECT_EQ(plan({"--input", "x=zeros:5", "--input", "k=absent.pb"}).exit_code, 3);
  EXPECT_EQ(plan({"--shape", "x=5", "--input", "x=zeros:5"}).exit_code, 1);
  const CommandResult unknown = plan({"--input", "y=zeros:5"});
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_TRUE(contains(unknown.err, "the model has no input 'y'")) << unknown.err;
  for (const char* word : {"x", "x=5", "x=zeros:5x", "x=picture.png"})
    EXPECT_EQ(plan({"--input", word}).exit_code, 2) << word;
  EXPECT_EQ(plan({"--input", "x=zeros:5", "--input", "x=zeros:5"}).exit_code, 2);
  EXPECT_EQ(info({"--input", "x=zeros:5"}).exit_code, 2) << "without a plan it says nothing";
}

TEST_F(OnnxInfo, names_of_a_file_begin_no_line) {
  write_model(onnx::model(
      onnx::graph(onnx::node("Abs", {"x"}, {"y\nall nodes"}), {"x"}, {"y\nall nodes"})));
  const CommandResult result = plan();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "the node of 'y\\nall nodes' (Abs)")) << result.out;
  EXPECT_FALSE(contains(result.out, "\nall nodes'")) << result.out;
  EXPECT_FALSE(contains(result.out, "producer")) << "the file says nothing of it\n" << result.out;
}

TEST_F(OnnxInfo, a_file_cannot_ask_for_all_memory) {
  for (const ElementType type : {ElementType::string, ElementType::f32}) {
    const auto value = [&](const char* name) {
      return onnx::value_info(name, onnx::tensor_type(type, {extent(std::int64_t{1} << 50)}));
    };
    write_model(onnx::model(onnx::Message{}
                                .messages(1, onnx::node("Identity", {"x"}, {"y"}).all)
                                .text(2, "main")
                                .message(11, value("x"))
                                .message(12, value("y"))));
    EXPECT_EQ(parsed(plan({"--json"}))["error"]["code"], "limit_exceeded");
  }
}

TEST_F(OnnxInfo, extents_that_are_not_known_are_asked_for) {
  write_model(positives());
  const CommandResult result = plan();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.err,
                       "the extents of input 'x' (float[batch]) are not known: give --shape x="))
      << result.err;
}

TEST_F(OnnxInfo, refuses_a_shape_of_no_input_and_a_word_that_is_no_shape) {
  write_model(positives());
  const CommandResult unknown = plan({"--shape", "weight=3"});
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_TRUE(contains(unknown.err, "the model has no input 'weight'; did you mean 'weights'?"))
      << unknown.err;
  for (const char* word : {"x", "=3", "x=3x", "x=x3", "x=-3", "x=3,4", "x=3X4"})
    EXPECT_EQ(plan({"--shape", word}).exit_code, 2) << word;
  EXPECT_EQ(info({"--shape", "x=3"}).exit_code, 2) << "without a plan it says nothing";
}

TEST_F(OnnxInfo, misspelt_words_are_told_with_what_was_meant) {
  const CommandResult verb = stoker_command({"onnx", "inof", "m.onnx"});
  EXPECT_EQ(verb.exit_code, 2);
  EXPECT_TRUE(contains(verb.err, "'onnx' has no verb 'inof'; did you mean 'info'?")) << verb.err;
  const CommandResult option = info({"--pln"});
  EXPECT_EQ(option.exit_code, 2);
  EXPECT_TRUE(
      contains(option.err, "stoker onnx info has no option '--pln'; did you mean '--plan'?"))
      << option.err;
}

TEST_F(OnnxInfo, draws_the_graph) {
  write_model(positives());
  const CommandResult result = info({"--dot"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.out.starts_with("digraph model {\n")) << result.out;
  EXPECT_TRUE(contains(result.out, "[label=\"Compress\"];")) << result.out;
  EXPECT_EQ(info({"--dot", "--json"}).exit_code, 2);
}

TEST_F(OnnxInfo, tells_a_damaged_file_from_one_that_is_not_there) {
  EXPECT_EQ(info().exit_code, 3);
  write("m.onnx", "\x0a");
  EXPECT_EQ(info().exit_code, 1);
  EXPECT_EQ(parsed(info({"--json"}))["error"]["code"], "io_error");
}

}  // namespace
}  // namespace stoker
