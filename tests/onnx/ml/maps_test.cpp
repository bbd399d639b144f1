// Maps from classes to scores, and labels that are texts, which come after the run; against ONNX Runtime.
#include "stoker/api/onnx/core/value_files.hpp"
#include "stoker/pipeline/onnx/reading/value_reader.hpp"
#include "stoker/pipeline/onnx/writing/value_writer.hpp"
#include "stoker/tests/onnx/ml/ml_test.hpp"

namespace stoker::onnx {
namespace {

class Maps : public MlTest {
 protected:
  static Value map(const Whole& keys, const Floats& values) {
    return Value::map(Known::integers(keys),
                      Known::reals(std::vector<double>{values.begin(), values.end()},
                                   Shape{static_cast<std::int64_t>(values.size())}));
  }
  static Value map(const Whole& keys, const Words& values) {
    return Value::map(Known::integers(keys),
                      words(Shape{static_cast<std::int64_t>(values.size())}, values));
  }
  static Floats values_of(const Value& map) {
    const std::vector<double> all = map.values().known().to_reals();
    return {all.begin(), all.end()};
  }
  /// Whether x[0] is above 0.5, as words, with their scores.
  static GraphBuilder classifier() {
    GraphBuilder builder;
    builder.input("x", {"n", 1});
    builder.node("LinearClassifier", {"x"}, {"label", "scores"},
                 {named("coefficients", Floats{1}), named("intercepts", Floats{-0.5F}),
                  named("classlabels_strings", Words{"no", "yes"}),
                  named("post_transform", std::string{"LOGISTIC"})},
                 "ai.onnx.ml");
    return builder;
  }
};

TEST_F(Maps, of_a_row_are_from_its_classes_to_its_scores) {
  const Value x = rows({2, 3}, {1, 2, 3, 4, 5, 6});
  const Value named_maps =
      run("ZipMap", {x}, {named("classlabels_strings", Words{"b", "a", "c"})}).at("y");
  ASSERT_TRUE(named_maps.is_sequence());
  EXPECT_EQ(named_maps.to_string(), "a sequence of 2");
  ASSERT_EQ(named_maps.elements().size(), 2U);
  const Value& second = named_maps.elements()[1];
  EXPECT_EQ(second.to_string(), "a map of 3");
  EXPECT_EQ(second.keys().texts().strings, (Words{"b", "a", "c"}));
  EXPECT_EQ(values_of(second), (Floats{4, 5, 6}));
  const Attributes whole_labels{named("classlabels_int64s", Whole{7, 5, 6})};
  const Value one = run("ZipMap", {rows({3}, {1, 2, 3})}, whole_labels).at("y");
  ASSERT_EQ(one.elements().size(), 1U);
  EXPECT_EQ(one.elements()[0].keys().known().to_integers(), (Whole{7, 5, 6}));
  EXPECT_TRUE(run("ZipMap", {zeros({0, 3})}, whole_labels).at("y").elements().empty());
  EXPECT_EQ(code("ZipMap", {ones({2, 2})}, whole_labels), ErrorCode::shape_mismatch);
  EXPECT_EQ(code("ZipMap", {x}, {}), ErrorCode::invalid_argument);
  EXPECT_EQ(code("ZipMap", {words({1, 3}, {"x", "y", "z"})}, whole_labels),
            ErrorCode::invalid_argument);
}

TEST_F(Maps, and_labels_come_after_the_run_without_a_cut) {
  const Model model = classifier()
                          .node("ZipMap", {"scores"}, {"maps"},
                                {named("classlabels_strings", Words{"no", "yes"})}, "ai.onnx.ml")
                          .output("label")
                          .output("maps")
                          .load(here());
  for (const float x : {0.0F, 1.0F, 2.0F}) {
    const NamedValues out = model.run({{"x", rows({2, 1}, {x, 1 - x})}}).get();
    EXPECT_EQ(out.at("label").shape(), (Shape{2}));
    EXPECT_EQ(out.at("label").texts().strings,
              x < 0.5F ? (Words{"no", "yes"}) : (Words{"yes", "no"}));
    const Floats scores = values_of(out.at("maps").elements()[0]);
    EXPECT_NEAR(scores[1], 1 / (1 + std::exp(0.5F - x)), 1e-6F);
    EXPECT_NEAR(scores[0] + scores[1], 1, 1e-6F);
  }
  EXPECT_EQ(model.stats().cuts, 0U);
  EXPECT_EQ(model.stats().traced, 1U);
}

TEST_F(Maps, labels_that_a_node_reads_make_a_cut) {
  GraphBuilder builder = classifier();
  builder.node("LabelEncoder", {"label"}, {"y"},
               {named("keys_strings", Words{"no", "yes"}), named("values_int64s", Whole{-7, 7})},
               "ai.onnx.ml");
  builder.graph.nodes.back().opset = 4;
  const Model model = builder.output("y").output("label").load(here());
  for (int i = 0; i < 2; ++i) {
    const NamedValues out = model.run({{"x", rows({2, 1}, {0, 1})}}).get();
    EXPECT_EQ(whole(out, "y"), (Whole{-7, 7}));
    EXPECT_EQ(out.at("label").texts().strings, (Words{"no", "yes"}));
  }
  EXPECT_EQ(model.stats().cuts, 2U);
}

TEST_F(Maps, and_labels_that_are_only_moved_make_no_cut) {
  const Model model =
      GraphBuilder{}
          .input("x", {"n", 3})
          .constant(
              "classes",
              {.type = ElementType::string, .dims = {3}, .bytes = {}, .strings = {"a", "b", "c"}})
          .node("ArgMax", {"x"}, {"best"},
                {named("axis", std::int64_t{1}), named("keepdims", std::int64_t{0})})
          .node("ArrayFeatureExtractor", {"classes", "best"}, {"y"}, {}, "ai.onnx.ml")
          .output("y")
          .load(here());
  for (const float x : {0.0F, 2.0F}) {
    const NamedValues out = model.run({{"x", rows({2, 3}, {x, 1, 0, 0, 1, x})}}).get();
    EXPECT_EQ(out.at("y").shape(), (Shape{1, 2}));
    EXPECT_EQ(out.at("y").texts().strings, x < 1 ? (Words{"b", "b"}) : (Words{"a", "c"}));
  }
  EXPECT_EQ(model.stats().cuts, 0U);
  EXPECT_EQ(model.stats().traced, 1U);
}

TEST_F(Maps, are_left_out_of_what_is_bound) {
  const Model model = classifier().output("label").output("scores").load(here());
  const Buffer in = device_.buffer(DType::f32, Shape{1, 1});
  const Binding binding = model.bind({{"x", Tensor{in}}}, {}, {.outputs = {"scores"}});
  in.write(Floats{0.5F});
  binding.run().get();
  EXPECT_EQ(binding.outputs().at("scores").read<float>().get(), (Floats{0.5F, 0.5F}));
  const Error error = refusal([&] { (void)model.bind({{"x", Tensor{in}}}); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
}

TEST_F(Maps, and_labels_of_one_run_are_operands_of_another) {
  const Model model = classifier().output("label").load(here());
  const Model lengths =
      node("LabelEncoder", 1,
           {named("keys_strings", Words{"no", "yes"}), named("values_int64s", Whole{2, 3})}, 1, 4);
  const Value labels = model.run({{"x", rows({2, 1}, {0, 1})}}).get().at("label");
  EXPECT_EQ(whole(lengths.run({{"a", labels}}).get(), "y"), (Whole{2, 3}));
  EXPECT_EQ(whole(lengths.run({{"a", words({2}, {"no", "yes"})}}).get(), "y"), (Whole{2, 3}));
}

TEST_F(Maps, and_lists_of_labels_of_one_run_are_operands_of_another) {
  // Which of three words are chosen, for each element of a list.
  GraphBuilder choice;
  choice.input("places", {"n"}, ElementType::s64)
      .constant("all",
                {.type = ElementType::string, .dims = {3}, .bytes = {}, .strings = {"a", "b", "c"}})
      .node("Gather", {"all", "places"}, {"chosen"})
      .output("chosen");
  const auto of_list = [](GraphBuilder& builder) -> GraphBuilder& {
    builder.graph.inputs.push_back({.name = "list", .type = {}, .doc = {}});
    return builder;
  };
  GraphBuilder writer, reader;
  const Model writes = of_list(writer)
                           .node("SequenceMap", {"list"}, {"y"}, {choice.as("body")})
                           .output("y")
                           .load(here());
  const Model reads = of_list(reader)
                          .input("x", {1})
                          .constant("first", integers({0}))
                          .node("SequenceAt", {"list", "first"}, {"words"})
                          .node("StringConcat", {"words", "words"}, {"y"})
                          .node("Add", {"x", "x"}, {"twice"})
                          .output("y")
                          .output("twice")
                          .load(here());
  const Buffer places = device_.buffer(std::vector<std::int64_t>{2, 0});
  const Value made = writes.run({{"list", Value::sequence({Tensor{places}})}}).get().at("y");
  const auto expect_read = [&](const Value& list, float x) {
    const NamedValues out = reads.run({{"list", list}, {"x", rows({1}, {x})}}).get();
    EXPECT_EQ(out.at("y").texts().strings, (Words{"cc", "aa"}));
    EXPECT_EQ(floats(out, "twice"), (Floats{2 * x}));
  };
  expect_read(made, 1);
  expect_read(Value::sequence({words({2}, {"c", "a"})}), 2);
  expect_read(made, 3);
  EXPECT_EQ(reads.stats().traced, 1U);
}

TEST_F(Maps, are_cast_to_rows) {
  const Value numbers = map({5, 1, 3}, Floats{1.5F, -2.75F, 3});
  const Value texts = map({5, 1, 3}, Words{"1.5", "-2", "3"});
  const auto to = [](const char* type, bool sparse = false) {
    Attributes all{text("cast_to", type)};
    if (sparse) all = with(all, {text("map_form", "SPARSE"), named("max_map", std::int64_t{4})});
    return all;
  };
  EXPECT_EQ(reals("CastMap", {numbers}, {}), (Floats{-2.75F, 3, 1.5F}));
  EXPECT_EQ(reals("CastMap", {numbers}, to("TO_FLOAT", true)), (Floats{0, -2.75F, 0, 3}));
  EXPECT_EQ(reals("CastMap", {texts}, to("TO_FLOAT")), (Floats{-2, 3, 1.5F}));
  EXPECT_EQ(whole(run("CastMap", {numbers}, to("TO_INT64")), "y"), (Whole{-2, 3, 1}));
  EXPECT_EQ(whole(run("CastMap", {texts}, to("TO_INT64", true)), "y"), (Whole{0, -2, 0, 3}));
  EXPECT_EQ(run("CastMap", {numbers}, to("TO_STRING", true)).at("y").texts().strings,
            (Words{"0.f", "-2.750000", "0.f", "3.000000"}));
  EXPECT_EQ(run("CastMap", {texts}, to("TO_STRING")).at("y").texts().strings,
            (Words{"-2", "3", "1.5"}));
  EXPECT_EQ(run("CastMap", {texts}, to("TO_STRING")).at("y").shape(), (Shape{1, 3}));
  for (const char* bad : {"one", "", "+", "+-5", "1e60"})
    EXPECT_EQ(code("CastMap", {map({1}, Words{bad})}, {}), ErrorCode::invalid_argument) << bad;
  EXPECT_EQ(reals("CastMap", {map({1}, Words{" +5x"})}, {}), (Floats{5}));
  EXPECT_EQ(code("CastMap", {map({-1}, Floats{1})}, to("TO_FLOAT", true)),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code("CastMap", {map({1}, Floats{1e30F})}, to("TO_INT64")),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code("CastMap", {numbers}, to("TO_BOOL")), ErrorCode::invalid_parameter);
  EXPECT_EQ(code("CastMap", {numbers}, {text("map_form", "THIN")}), ErrorCode::invalid_parameter);
  EXPECT_EQ(code("CastMap", {rows({1}, {1})}, {}), ErrorCode::invalid_argument);
}

TEST_F(Maps, become_vectors_in_the_order_of_a_vocabulary) {
  const Value by_word =
      Value::map(words({2}, {"c", "a"}), Known::reals(std::vector<double>{5, 7}, Shape{2}));
  const Attributes vocabulary{named("string_vocabulary", Words{"a", "z", "c"})};
  EXPECT_EQ(reals("DictVectorizer", {by_word}, vocabulary), (Floats{7, 0, 5}));
  EXPECT_EQ(run("DictVectorizer", {map({3, 1}, Words{"x", "y"})},
                {named("int64_vocabulary", Whole{1, 9, 3})})
                .at("y")
                .texts()
                .strings,
            (Words{"y", "", "x"}));
  EXPECT_EQ(code("DictVectorizer", {map({3}, Floats{1})}, vocabulary), ErrorCode::invalid_argument);
  EXPECT_EQ(code("DictVectorizer", {by_word}, {}), ErrorCode::invalid_argument);
}

TEST_F(Maps, that_are_inputs_have_the_types_that_the_model_declares) {
  GraphBuilder builder;
  ValueInfo input{.name = "x", .type = {}, .doc = {}};
  input.type.kind = ValueKind::map;
  input.type.element = ElementType::s64;
  input.type.inner = {{.kind = ValueKind::tensor,
                       .element = ElementType::f32,
                       .dims = std::vector<Dimension>{},
                       .inner = {}}};
  builder.graph.inputs.push_back(input);
  const Model model =
      builder.node("CastMap", {"x"}, {"y"}, {}, "ai.onnx.ml").output("y").load(here());
  EXPECT_EQ(floats(model.run({{"x", map({2, 1}, Floats{3, 4})}}).get(), "y"), (Floats{4, 3}));
  EXPECT_EQ(floats(model.run({{"x", map({2, 1}, Floats{5, 4})}}).get(), "y"), (Floats{4, 5}));
  const auto refused = [&](const Value& x) {
    return refusal([&] { (void)model.run({{"x", x}}).get(); }).code();
  };
  EXPECT_EQ(refused(ones({1})), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(map({2}, Words{"a"})), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(Value::map(words({1}, {"a"}), whole_numbers({1}, {1}))),
            ErrorCode::invalid_argument);
}

TEST_F(Maps, have_as_many_values_as_keys) {
  const auto refused = [&](const Value& keys, const Value& values) {
    return refusal([&] { (void)Value::map(keys, values); }).code();
  };
  const Value two = whole_numbers({2}, {1, 2});
  EXPECT_EQ(refused(two, whole_numbers({3}, {1, 2, 3})), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(two, ones({2})), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(Known::reals(std::vector<double>{1, 2}, Shape{2}), two),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused(whole_numbers({1, 2}, {1, 2}), whole_numbers({1, 2}, {1, 2})),
            ErrorCode::invalid_argument);
}

TEST_F(Maps, go_to_files_and_back) {
  const Value list = Value::sequence({map({5, 1}, Floats{1.5F, -2}), map({}, Floats{})});
  const std::string bytes = write_value(data_of("maps", list)).written();
  const Value again =
      value_of(read_value(std::as_bytes(std::span{bytes}), ValueKind::sequence).value());
  ASSERT_EQ(again.elements().size(), 2U);
  EXPECT_EQ(again.elements()[0].keys().known().to_integers(), (Whole{5, 1}));
  EXPECT_EQ(values_of(again.elements()[0]), (Floats{1.5F, -2}));
  EXPECT_EQ(again.elements()[1].keys().shape(), (Shape{0}));
  const Value by_word = Value::map(words({1}, {"k"}), words({1}, {"v"}));
  const std::string of_words = write_value(data_of("", by_word)).written();
  const Value read =
      value_of(read_value(std::as_bytes(std::span{of_words}), ValueKind::map).value());
  EXPECT_EQ(read.keys().texts().strings, Words{"k"});
  EXPECT_EQ(read.values().texts().strings, Words{"v"});
}

}  // namespace
}  // namespace stoker::onnx
