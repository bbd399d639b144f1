// Loops of no rounds, as a detector has them that finds nothing.
#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

Attribute number(std::string name, std::int64_t value) { return named(std::move(name), value); }

class EmptyLoops : public OnnxTest {
 protected:
  /// Gives twice a row of `rows` in each round, of which it says nothing.
  static GraphBuilder doubled_row() {
    GraphBuilder body;
    return body.input("round", {}, ElementType::s64)
        .input("before", {}, ElementType::boolean)
        .node("Gather", {"rows", "round"}, {"row"}, {number("axis", 0)})
        .node("Add", {"row", "row"}, {"twice"})
        .output("before")
        .output("twice");
  }
  static Model over_rows(const GraphBuilder& body, const LoadOptions& options) {
    return GraphBuilder{}
        .input("rows", {"n", "m"})
        .input("count", {}, ElementType::s64)
        .node("Loop", {"count", ""}, {"y"}, {body.as("body")})
        .output("y")
        .load(options);
  }
  Shape of_no_rounds(const GraphBuilder& body) {
    const Value y = over_rows(body, here())
                        .run({{"rows", ones({2, 3})}, {"count", Known::integer(0)}})
                        .get()
                        .at("y");
    EXPECT_EQ(y.type(), ElementType::f32);
    return y.shape();
  }
  static ValueType declared(const std::vector<Dim>& dims) {
    ValueType type = of_any_shape();
    type.dims.emplace(dims.begin(), dims.end());
    return type;
  }
  static ValueType of_any_shape() {
    return {.kind = ValueKind::tensor, .element = ElementType::f32, .dims = {}, .inner = {}};
  }
};

TEST_F(EmptyLoops, stack_what_the_body_declares_with_0_for_open_extents) {
  GraphBuilder body = doubled_row();
  body.graph.outputs[1].type = declared({7});
  EXPECT_EQ(of_no_rounds(body), (Shape{0, 7}));
  body.graph.outputs[1].type = declared({"m", 5, ""});
  EXPECT_EQ(of_no_rounds(body), (Shape{0, 0, 5, 0}));
}

TEST_F(EmptyLoops, stack_what_a_round_would_give_where_the_body_declares_no_shape) {
  GraphBuilder body = doubled_row();
  EXPECT_EQ(of_no_rounds(body), (Shape{0, 3}));
  body.graph.outputs[1].type = of_any_shape();
  EXPECT_EQ(of_no_rounds(body), (Shape{0, 3}));
}

TEST_F(EmptyLoops, stack_into_one_axis_where_only_a_round_would_know_the_shape) {
  GraphBuilder body = doubled_row();
  body.node("NonZero", {"twice"}, {"places"})
      .node("Cast", {"places"}, {"counted"}, {number("to", 1)});
  body.graph.outputs[1] = {.name = "counted", .type = of_any_shape(), .doc = {}};
  EXPECT_EQ(of_no_rounds(body), Shape{0});
  body.graph.outputs[1].type = {};
  EXPECT_EQ(refusal([&] { (void)of_no_rounds(body); }).code(), ErrorCode::unsupported);
}

TEST_F(EmptyLoops, may_declare_extents_that_no_memory_holds) {
  constexpr std::int64_t large = std::int64_t{1} << 40;
  GraphBuilder body = doubled_row();
  body.graph.outputs[1].type = declared({large, 3});
  EXPECT_EQ(of_no_rounds(body), (Shape{0, large, 3}));
  for (const std::vector<Dim>& dims :
       {std::vector<Dim>(Shape::max_rank, 1), std::vector<Dim>(2, large)}) {
    body.graph.outputs[1].type = declared(dims);
    const Error error = refusal([&] { (void)of_no_rounds(body); });
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string{error.what()}.find("output 'twice'"), std::string::npos) << error.what();
  }
}

TEST_F(EmptyLoops, give_no_texts_where_their_rounds_give_texts) {
  GraphBuilder body;
  body.input("round", {}, ElementType::s64)
      .input("before", {}, ElementType::boolean)
      .node("Gather", {"words", "round"}, {"word"}, {number("axis", 0)})
      .output("before")
      .output("word");
  const auto run = [&](std::int64_t count) {
    const Model model = GraphBuilder{}
                            .input("words", {"n", 2}, ElementType::string)
                            .input("count", {}, ElementType::s64)
                            .node("Loop", {"count", ""}, {"y"}, {body.as("body")})
                            .output("y")
                            .load(here());
    return model
        .run({{"words", Value{Texts{Shape{2, 2}, {"a", "b", "c", "d"}}}},
              {"count", Known::integer(count)}})
        .get()
        .at("y");
  };
  const Value two = run(2);
  EXPECT_EQ(two.shape(), (Shape{2, 2}));
  EXPECT_EQ(two.texts().strings, (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_EQ(run(0).type(), ElementType::string);
  EXPECT_EQ(run(0).shape(), (Shape{0, 2}));
  ValueType type = declared({5});
  type.element = ElementType::string;
  body.graph.outputs[1].type = type;
  EXPECT_EQ(run(0).shape(), (Shape{0, 5}));
  EXPECT_TRUE(run(0).texts().strings.empty());
}

TEST_F(EmptyLoops, texts_of_rounds_that_a_cut_separates_are_refused) {
  GraphBuilder body;
  body.input("round", {}, ElementType::s64)
      .input("before", {}, ElementType::boolean)
      .constant("bound", reals({0}))
      .node("Gather", {"words", "round"}, {"word"}, {number("axis", 0)})
      .node("Gather", {"x", "round"}, {"element"}, {number("axis", 0)})
      .node("Greater", {"element", "bound"}, {"goes_on"})
      .output("goes_on")
      .output("word");
  const Model model = GraphBuilder{}
                          .input("words", {2}, ElementType::string)
                          .input("x", {2})
                          .input("yes", {}, ElementType::boolean)
                          .node("Loop", {"", "yes"}, {"y"}, {body.as("body")})
                          .output("y")
                          .load(here());
  const Error error = refusal([&] {
    (void)model
        .run({{"words", Value{Texts{Shape{2}, {"a", "b"}}}},
              {"x", ones({2})},
              {"yes", Known::integer(1, ElementType::boolean)}})
        .get();
  });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(std::string{error.what()}.find("stacks texts"), std::string::npos) << error.what();
}

TEST_F(EmptyLoops, of_scans_give_texts_along_the_axis_of_the_scan) {
  GraphBuilder body;
  body.input("place", {}, ElementType::s64)
      .node("Gather", {"words", "place"}, {"word"}, {number("axis", 0)})
      .output("word");
  const Model model = GraphBuilder{}
                          .input("words", {3, 2}, ElementType::string)
                          .input("places", {"n"}, ElementType::s64)
                          .node("Scan", {"places"}, {"y"},
                                {body.as("body"), number("num_scan_inputs", 1),
                                 named("scan_output_axes", std::vector<std::int64_t>{1})})
                          .output("y")
                          .load(here());
  const auto run = [&](const std::vector<std::int64_t>& places) {
    const Value words{Texts{Shape{3, 2}, {"a", "b", "c", "d", "e", "f"}}};
    return model.run({{"words", words}, {"places", Known::integers(places)}}).get().at("y");
  };
  EXPECT_EQ(run({}).shape(), (Shape{2, 0}));
  EXPECT_EQ(run({2, 0}).shape(), (Shape{2, 2}));
  EXPECT_EQ(run({2, 0}).texts().strings, (std::vector<std::string>{"e", "a", "f", "b"}));
}

TEST_F(EmptyLoops, follow_a_count_that_the_run_finds_to_be_0) {
  GraphBuilder body = doubled_row();
  body.graph.outputs[1].type = of_any_shape();
  const Model model = GraphBuilder{}
                          .input("x", {2, 3})
                          .constant("bound", reals({2}))
                          .constant("yes", {.type = ElementType::boolean,
                                            .dims = {},
                                            .bytes = SharedBytes::own({std::byte{1}}),
                                            .strings = {}})
                          .node("Greater", {"x", "bound"}, {"large"})
                          .node("NonZero", {"large"}, {"columns"})
                          .node("Transpose", {"columns"}, {"places"})
                          .node("GatherND", {"x", "places"}, {"rows"})
                          .node("Shape", {"rows"}, {"shape"})
                          .node("Squeeze", {"shape"}, {"count"})
                          .node("Loop", {"count", "yes"}, {"y"}, {body.as("body")})
                          .node("ReduceSum", {"y"}, {"sum"}, {number("keepdims", 0)})
                          .output("y")
                          .output("sum")
                          .load(here());
  for (int i = 0; i < 2; ++i) {
    const NamedValues none = model.run({{"x", zeros({2, 3}, DType::f32)}}).get();
    EXPECT_EQ(none.at("y").shape(), Shape{0});
    EXPECT_EQ(floats(none, "sum"), std::vector<float>{0});
    const NamedValues some = model.run({{"x", full({2, 3}, 3.0F)}}).get();
    EXPECT_EQ(floats(some, "y"), std::vector<float>(6, 6));
  }
}

TEST_F(EmptyLoops, over_sequences_of_no_elements_stack_along_the_axis_of_the_scan) {
  GraphBuilder body;
  body.input("sum", {3})
      .input("element", {3})
      .node("Add", {"sum", "element"}, {"next"})
      .output("next")
      .output("next");
  const Model model = GraphBuilder{}
                          .input("start", {3})
                          .input("x", {"n", 3})
                          .node("Scan", {"start", "x"}, {"last", "y"},
                                {body.as("body"), number("num_scan_inputs", 1),
                                 named("scan_output_axes", std::vector<std::int64_t>{-1})})
                          .output("last")
                          .output("y")
                          .load(here());
  const NamedValues out = model.run({{"start", ones({3})}, {"x", zeros({0, 3})}}).get();
  EXPECT_EQ(floats(out, "last"), std::vector<float>(3, 1));
  EXPECT_EQ(out.at("y").shape(), (Shape{3, 0}));
  EXPECT_EQ(model.run({{"start", ones({3})}, {"x", zeros({2, 3})}}).get().at("y").shape(),
            (Shape{3, 2}));
}

}  // namespace
}  // namespace stoker::onnx
