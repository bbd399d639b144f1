#include <gtest/gtest.h>

#include <string_view>

#include "stoker/tests/onnx/reading/message.hpp"
#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

using Inputs = OnnxTest;

bool says(const Error& error, std::string_view text) {
  return std::string_view{error.what()}.find(text) != std::string_view::npos;
}

Model sum_of_two(const LoadOptions& options) {
  return GraphBuilder{}
      .input("image", {"batch", 3})
      .input("weights", {"batch", 1})
      .node("Add", {"image", "weights"}, {"y"})
      .output("y")
      .load(options);
}

TEST_F(Inputs, an_unknown_name_is_refused_with_the_nearest) {
  const Model model = sum_of_two(here());
  const Error error = refusal([&] {
    (void)model.run({{"imag", ones({1, 3})}, {"weights", ones({1, 1})}});
  });
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  EXPECT_TRUE(says(error, "did you mean 'image'?")) << error.what();
}

TEST_F(Inputs, a_missing_input_is_named_with_what_it_is) {
  const Error error = refusal([&] { (void)sum_of_two(here()).run({{"image", ones({1, 3})}}); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(says(error, "input 'weights' (float[batch,1]) is missing")) << error.what();
}

TEST_F(Inputs, another_type_is_refused) {
  const Error error = refusal([&] {
    (void)sum_of_two(here()).run({{"image", ones({1, 3}, DType::s32)}, {"weights", ones({1, 1})}});
  });
  EXPECT_EQ(error.code(), ErrorCode::dtype_mismatch);
  EXPECT_TRUE(says(error, "expected float[batch,3], came int32[1,3]")) << error.what();
}

TEST_F(Inputs, another_extent_is_refused) {
  const Error error = refusal([&] {
    (void)sum_of_two(here()).run({{"image", ones({1, 4})}, {"weights", ones({1, 1})}});
  });
  EXPECT_EQ(error.code(), ErrorCode::shape_mismatch);
  EXPECT_TRUE(says(error, "expected float[batch,3], came float[1,4]")) << error.what();
}

TEST_F(Inputs, a_symbol_means_one_extent_in_all_inputs) {
  const Error error = refusal([&] {
    (void)sum_of_two(here()).run({{"image", ones({2, 3})}, {"weights", ones({1, 1})}});
  });
  EXPECT_EQ(error.code(), ErrorCode::shape_mismatch);
  EXPECT_TRUE(says(error, "batch was 2 in input 'image'")) << error.what();
}

TEST_F(Inputs, all_that_is_unlike_in_a_shape_is_said_at_once) {
  const Model model = GraphBuilder{}
                          .input("image", {"batch", 3, "H", "W"})
                          .input("mask", {"batch", 1, "H", 20})
                          .node("Add", {"image", "mask"}, {"y"})
                          .output("y")
                          .load(here());
  const Error error = refusal([&] {
    (void)model.run({{"image", ones({2, 3, 10, 20})}, {"mask", ones({1, 4, 20, 20})}});
  });
  EXPECT_EQ(error.code(), ErrorCode::shape_mismatch);
  EXPECT_TRUE(says(error,
                   "input 'mask': expected float[batch,1,H,20], came float[1,4,20,20]; batch was 2 "
                   "in input 'image'; H was 10 in input 'image'"))
      << error.what();
}

TEST_F(Inputs, an_input_with_an_initializer_may_be_left_out) {
  const Model model = GraphBuilder{}
                          .input("x", {2})
                          .input("bias", {2})
                          .constant("bias", reals({10, 20}))
                          .node("Add", {"x", "bias"}, {"y"})
                          .output("y")
                          .load(here());
  EXPECT_EQ(floats(model.run({{"x", ones({2})}}).get(), "y"), (std::vector<float>{11, 21}));
  EXPECT_EQ(floats(model.run({{"x", ones({2})}, {"bias", ones({2})}}).get(), "y"),
            (std::vector<float>{2, 2}));
}

TEST_F(Inputs, outputs_are_chosen_by_name) {
  const Model model = GraphBuilder{}
                          .input("x", {2})
                          .constant("zero", reals({0}))
                          .node("Greater", {"x", "zero"}, {"is_positive"})
                          .node("Compress", {"x", "is_positive"}, {"some"})
                          .node("Neg", {"x"}, {"y"})
                          .output("some")
                          .output("y")
                          .load(here());
  const NamedValues x{{"x", tensor({1.0, -1.0})}};
  const NamedValues one = model.run(x, {.outputs = {"y"}}).get();
  EXPECT_EQ(one.size(), 1U);
  EXPECT_EQ(floats(one, "y"), (std::vector<float>{-1, 1}));
  EXPECT_EQ(model.stats().cuts, 0U) << "what only the other needs is not computed";
  EXPECT_EQ(model.run(x).get().size(), 2U);
  const Error error = refusal([&] { (void)model.run(x, {.outputs = {"z"}}); });
  EXPECT_EQ(error.code(), ErrorCode::not_found);
}

TEST_F(Inputs, all_nodes_that_cannot_be_computed_are_listed) {
  const Error error = refusal([&] {
    (void)GraphBuilder{}
        .input("x", {2})
        .node("Foo", {"x"}, {"a"})
        .node("Relu", {"a"}, {"b"}, {named("slope", 1.0F)})
        .node("Bar", {"b"}, {"y"}, {}, "com.example")
        .output("y")
        .load(here());
  });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_TRUE(
      says(error, "the node of 'a' (Foo), domain 'ai.onnx', opset 21: there is no such operator"))
      << error.what();
  EXPECT_TRUE(says(error, "the attribute 'slope' is not known")) << error.what();
  EXPECT_TRUE(says(error, "there is no such domain")) << error.what();
  EXPECT_EQ(error.details().size(), 3U);
}

TEST_F(Inputs, versions_that_are_newer_than_the_operators_are_refused) {
  const auto model_of = [&](std::int64_t opset) {
    GraphBuilder builder;
    builder.opset = opset;
    return builder.input("x", {2}).node("Relu", {"x"}, {"y"}).output("y");
  };
  EXPECT_TRUE(model_of(28).load(here()));
  const Error error = refusal([&] { (void)model_of(29).load(here()); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_EQ(error.detail("node"),
            "the node of 'y' (Relu), domain 'ai.onnx', opset 29: versions of its domain are known "
            "up to 28");
}

TEST_F(Inputs, an_attribute_of_another_type_does_not_hide_other_nodes) {
  const Error error = refusal([&] {
    (void)GraphBuilder{}
        .input("x", {2}, ElementType::string)
        .node("RegexFullMatch", {"x"}, {"y"}, {named("pattern", std::int64_t{3})})
        .node("Foo", {"y"}, {"z"})
        .output("z")
        .load(here());
  });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_EQ(error.reason(), "2 nodes cannot be computed") << error.what();
  EXPECT_TRUE(says(error, "expected a text, came an integer")) << error.what();
  EXPECT_TRUE(says(error, "there is no such operator")) << error.what();
}

TEST_F(Inputs, a_wrong_graph_does_not_list_nodes_whose_attributes_a_call_gives) {
  Message functions = onnx::model(onnx::graph(
      onnx::node("Mine", {"x"}, {"a"}, {}, "own").add("Relu", {"zz"}, {"y"}), {"x"}, {"y"}));
  functions.message(8, onnx::opset("own", 1));
  Message pattern;
  pattern.text(1, "pattern").text(21, "expression").integer(20, 3);
  Message function;
  function.text(1, "Mine").text(4, "u").text(5, "v").text(6, "expression");
  function.message(9, onnx::opset("", 20)).text(10, "own");
  function.messages(7, onnx::node("RegexFullMatch", {"u"}, {"v"}, {pattern}).all);
  functions.message(25, std::move(function));
  const std::string bytes = functions.bytes();
  const Error error = refusal([&] { (void)onnx::load(std::as_bytes(std::span{bytes}), here()); });
  EXPECT_TRUE(says(error, "reads 'zz', which nothing writes")) << error.what();
  EXPECT_FALSE(says(error, "RegexFullMatch")) << error.what();
}

TEST_F(Inputs, a_wrong_graph_does_not_hide_nodes_that_cannot_be_computed) {
  Message functions = onnx::model(onnx::graph(onnx::node("Mine", {"x"}, {"a"}, {}, "own")
                                                  .add("Foo", {"zz"}, {"b"})
                                                  .add("Relu", {"b"}, {"y"}),
                                              {"x"}, {"y"}));
  functions.message(8, onnx::opset("own", 1));
  Message function;
  function.text(1, "Mine").text(4, "u").text(5, "v").message(9, onnx::opset("", 17));
  function.messages(7, onnx::node("Bar", {"u"}, {"v"}).all).text(10, "own");
  functions.message(25, std::move(function));
  const std::string bytes = functions.bytes();
  const Error error = refusal([&] { (void)onnx::load(std::as_bytes(std::span{bytes}), here()); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.reason(), "3 things are wrong") << error.what();
  EXPECT_EQ(error.details().size(), 4U) << "the file, and each of them";
  EXPECT_TRUE(says(error, "reads 'zz', which nothing writes")) << error.what();
  EXPECT_TRUE(says(error, "the node of 'b' (Foo)=cannot be computed: there is no such operator"))
      << error.what();
  EXPECT_TRUE(says(error, "function 'Mine', the node of 'v' (Bar)=cannot be computed: there"))
      << error.what();
}

TEST_F(Inputs, an_error_of_a_rule_names_the_node) {
  const Model model = GraphBuilder{}
                          .input("x", {"n"})
                          .constant("shape", integers({2, 2}))
                          .node("Reshape", {"x", "shape"}, {"y"})
                          .output("y")
                          .load(here());
  const Error error = refusal([&] { (void)model.run({{"x", ones({3})}}).get(); });
  EXPECT_EQ(error.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(error.detail("node"), "the node of 'y' (Reshape)");
  EXPECT_EQ(model.run({{"x", ones({4})}}).get().at("y").shape(), (Shape{2, 2}));
}

}  // namespace
}  // namespace stoker::onnx
