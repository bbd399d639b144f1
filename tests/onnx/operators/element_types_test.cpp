// Operators take the element types that ONNX lets them take, and no others.
#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

using enum ElementType;

class ElementTypes : public OnnxTest {
 protected:
  using Types = std::vector<ElementType>;

  /// y of one node that reads inputs a, b, c … of these types.
  static GraphBuilder node(const std::string& op, const Types& types,
                           std::vector<Attribute> attributes = {}) {
    GraphBuilder builder;
    std::vector<std::string> names;
    for (const ElementType type : types) {
      names.emplace_back(1, static_cast<char>('a' + names.size()));
      builder.input(names.back(), {2}, type);
    }
    builder.node(op, names, {"y"}, std::move(attributes)).output("y");
    return builder;
  }
  /// Why the nodes of a model are refused when it is loaded.
  std::vector<std::string> why_not(const GraphBuilder& builder,
                                   const OperatorTable* table = nullptr) {
    const Error error =
        refusal([&] { (void)builder.load({.device = device_, .operators = table}); });
    EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
    std::vector<std::string> all;
    for (const Detail& detail : error.details())
      if (detail.key == "node") all.push_back(detail.value);
    return all;
  }
  void expect_refused(const std::string& op, const Types& types, const std::string& why,
                      std::vector<Attribute> attributes = {}) {
    const std::vector<std::string> all = why_not(node(op, types, std::move(attributes)));
    ASSERT_EQ(all.size(), 1U) << op;
    EXPECT_NE(all[0].find(why), std::string::npos) << all[0];
  }
  static Value float8(const std::vector<std::uint8_t>& bits) { return {tensor(bits), f8e4m3fn}; }
};

/// 1, -2 and NaN.
const std::vector<std::uint8_t> some_float8{0x38, 0xC0, 0x7F};

TEST_F(ElementTypes, float8_does_not_compute) {
  const std::string takes = "operand 0 is float8e4m3fn, which is none of the types that it takes: ";
  expect_refused("Add", {f8e4m3fn, f8e4m3fn}, takes + "float, uint8, int8, uint16");
  expect_refused("MatMul", {f8e4m3fn, f8e4m3fn}, takes + "float, int32, int64, float16, double");
  expect_refused("Exp", {f8e4m3fn}, takes + "float, float16, double, bfloat16");
  for (const char* const op : {"Neg", "Softmax", "ReduceSum", "Relu", "Abs", "ArgMax", "Round"})
    expect_refused(op, {f8e4m3fn}, takes);
  for (const char* const op : {"Less", "Equal", "Max", "Pow", "Mod"})
    expect_refused(op, {f8e4m3fn, f8e4m3fn}, takes);
}

TEST_F(ElementTypes, integers_of_less_than_a_byte_do_not_compute) {
  for (const ElementType type : {s4, u4, s2, u2, f4e2m1, f8e8m0})
    expect_refused("Mul", {type, type}, "which is none of the types that it takes");
}

TEST_F(ElementTypes, truths_are_no_numbers) {
  expect_refused("Add", {boolean, boolean}, "operand 0 is bool");
  expect_refused("Neg", {boolean}, "operand 0 is bool");
  expect_refused("And", {f32, f32},
                 "operand 0 is float, which is none of the types that it takes: bool");
  expect_refused("Not", {u8}, "operand 0 is uint8");
  expect_refused("Where", {f32, f32, f32}, "operand 0 is float");
}

TEST_F(ElementTypes, functions_of_reals_take_no_integers) {
  for (const char* const op : {"Softmax", "Sqrt", "Exp", "Sigmoid", "Tanh", "Mean"})
    expect_refused(op, {s32}, "operand 0 is int32");
}

TEST_F(ElementTypes, operands_of_one_type_are_not_mixed) {
  expect_refused("Add", {s64, s32},
                 "operand 1 is int32 and operand 0 is int64, but they must be of one type");
  expect_refused("Where", {boolean, f32, f64}, "operand 2 is double and operand 1 is float");
  expect_refused("Concat", {f32, f32, f16}, "operand 2 is float16 and operand 0 is float",
                 {named("axis", std::int64_t{0})});
  EXPECT_NO_THROW(
      (void)node("Pow", {f32, s64}).load(here()));  // whose powers may be of another type
}

TEST_F(ElementTypes, one_error_lists_all_that_is_wrong) {
  GraphBuilder builder;
  builder.input("a", {2}, s32)
      .input("b", {2}, boolean)
      .node("Sqrt", {"a"}, {"x"})
      .node("Neg", {"b"}, {"y"})
      .node("Unheard", {"a"}, {"z"})
      .output("x")
      .output("y")
      .output("z");
  const std::vector<std::string> all = why_not(builder);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_TRUE(
      all[0].starts_with("the node of 'x' (Sqrt), domain 'ai.onnx', opset 21: operand 0 is int32"))
      << all[0];
  EXPECT_NE(all[1].find("(Neg)"), std::string::npos) << all[1];
  EXPECT_NE(all[2].find("there is no such operator"), std::string::npos) << all[2];
}

TEST_F(ElementTypes, nodes_behind_a_refused_one_are_not_refused_for_it) {
  GraphBuilder builder;
  builder.input("x", {2}, s32).node("Sqrt", {"x"}, {"a"}).node("Exp", {"a"}, {"y"}).output("y");
  EXPECT_EQ(why_not(builder).size(), 1U);
}

TEST_F(ElementTypes, a_description_lists_them) {
  ModelFile file;
  file.opsets = {{"", 21}};
  file.graph = node("Add", {f8e4m3fn, f8e4m3fn}).graph;
  const Description made = describe(file);
  ASSERT_EQ(made.unsupported.size(), 1U);
  EXPECT_EQ(made.unsupported[0].name, "Add");
  EXPECT_TRUE(made.unsupported[0].why.starts_with("operand 0 is float8e4m3fn"))
      << made.unsupported[0].why;
}

// What is known at load --------------------------------------------------------------------------------

TEST_F(ElementTypes, types_follow_nodes_and_constants) {
  GraphBuilder builder;
  builder.input("x", {2})
      .constant("one", integers({1}))
      .node("Cast", {"x"}, {"a"}, {named("to", static_cast<std::int64_t>(f8e5m2))})
      .node("Reshape", {"a", "one"}, {"b"})
      .node("Relu", {"b"}, {"c"})
      .node("Shape", {"x"}, {"d"})
      .node("Exp", {"d"}, {"e"})
      .node("ConstantOfShape", {"one"}, {"f"}, {named("value", integers({7}))})
      .node("Mul", {"x", "f"}, {"g"})
      .node("QuantizeLinear", {"x", "x"}, {"h"})
      .node("Sqrt", {"h"}, {"i"})
      .output("c")
      .output("e")
      .output("g")
      .output("i");
  const std::vector<std::string> all = why_not(builder);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_NE(all[0].find("operand 0 is float8e5m2"), std::string::npos) << all[0];
  EXPECT_NE(all[1].find("operand 0 is int64"), std::string::npos) << all[1];
  EXPECT_NE(all[2].find("operand 1 is int64 and operand 0 is float"), std::string::npos) << all[2];
  EXPECT_NE(all[3].find("operand 0 is uint8"), std::string::npos) << all[3];
}

TEST_F(ElementTypes, types_go_into_branches_and_come_out_of_them) {
  GraphBuilder branch;
  branch.node("Neg", {"x"}, {"n"}).node("Not", {"x"}, {"m"}).output("n");
  GraphBuilder builder;
  builder.input("x", {2})
      .input("condition", {}, boolean)
      .node("If", {"condition"}, {"a"}, {branch.as("then_branch"), branch.as("else_branch")})
      .node("BitwiseNot", {"a"}, {"y"})
      .output("y");
  const std::vector<std::string> all = why_not(builder);
  ASSERT_EQ(all.size(), 3U);  // a Not in each branch, and what reads the result
  EXPECT_NE(all[0].find("(Not)"), std::string::npos) << all[0];
  EXPECT_NE(all[2].find("(BitwiseNot)"), std::string::npos) << all[2];
}

TEST_F(ElementTypes, a_run_refuses_what_only_it_knows) {
  GraphBuilder builder;
  builder.input("x", {3}, f8e4m3fn)
      .constant("first", integers({0}))
      .node("SequenceConstruct", {"x"}, {"list"})
      .node("SequenceAt", {"list", "first"}, {"a"})
      .node("Add", {"a", "a"}, {"y"})
      .output("y");
  const Model model = builder.load(here());
  const Error error = refusal([&] { (void)model.run({{"x", float8(some_float8)}}).get(); });
  EXPECT_EQ(error.code(), ErrorCode::dtype_mismatch);
  EXPECT_TRUE(error.reason().starts_with("operand 0 is float8e4m3fn")) << error.what();
  EXPECT_EQ(error.detail("node"), "the node of 'y' (Add)");
}

// Narrow types ------------------------------------------------------------------------------------------

TEST_F(ElementTypes, float8_moves_and_is_converted) {
  GraphBuilder builder;
  builder.input("x", {3}, f8e4m3fn)
      .constant("shape", integers({1, 3}))
      .constant("places", integers({1, 0}))
      .node("Concat", {"x", "x"}, {"a"}, {named("axis", std::int64_t{0})})
      .node("Gather", {"a", "places"}, {"b"})
      .node("Cast", {"b"}, {"y"}, {named("to", static_cast<std::int64_t>(f32))})
      .node("Reshape", {"x", "shape"}, {"z"})
      .output("y")
      .output("z");
  const NamedValues outputs = builder.load(here()).run({{"x", float8(some_float8)}}).get();
  EXPECT_EQ(floats(outputs, "y"), (std::vector<float>{-2, 1}));
  EXPECT_EQ(outputs.at("z").to_string(), "float8e4m3fn[1,3]");
}

TEST_F(ElementTypes, float8_passes_a_dropout_that_does_not_train) {
  GraphBuilder builder;
  builder.input("x", {3}, f8e4m3fn)
      .input("ratio", {}, f8e4m3fn)
      .node("Dropout", {"x", "ratio"}, {"y"})
      .output("y");
  const Value half{full(Shape{}, 0x30, DType::u8), f8e4m3fn};
  const NamedValues outputs =
      builder.load(here()).run({{"x", float8(some_float8)}, {"ratio", half}}).get();
  EXPECT_EQ(outputs.at("y").to_string(), "float8e4m3fn[3]");
}

TEST_F(ElementTypes, float8_says_whether_it_is_a_number) {
  const Value y =
      node("IsNaN", {f8e4m3fn}).load(here()).run({{"a", float8({0x38, 0x7F})}}).get().at("y");
  EXPECT_EQ(y.type(), boolean);
  EXPECT_EQ(y.tensor().to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{0, 1}));
}

TEST_F(ElementTypes, quantised_numbers_may_be_narrow) {
  for (const ElementType type : {s4, u4, f8e4m3fn, f4e2m1}) {
    GraphBuilder builder;
    builder.opset = 23;
    builder.input("x", {2})
        .constant("scale", reals({0.5F}))
        .node("QuantizeLinear", {"x", "scale"}, {"q"},
              {named("output_dtype", static_cast<std::int64_t>(type))})
        .node("DequantizeLinear", {"q", "scale"}, {"y"})
        .output("q")
        .output("y");
    const NamedValues outputs = builder.load(here()).run({{"x", tensor({1.0, 1.5})}}).get();
    EXPECT_EQ(outputs.at("q").type(), type);
    EXPECT_EQ(floats(outputs, "y"), (std::vector<float>{1, 1.5}));
  }
}

TEST_F(ElementTypes, scales_may_be_powers_of_two_in_e8m0) {
  GraphBuilder builder;
  builder.opset = 24;
  builder.input("x", {2}, s8)
      .input("scale", {1}, f8e8m0)
      .node("DequantizeLinear", {"x", "scale"}, {"y"},
            {named("output_dtype", static_cast<std::int64_t>(f32))})
      .output("y");
  const std::vector<std::int8_t> numbers{3, -4};
  const std::vector<std::uint8_t> four{129};  // 2^(129 - 127)
  const NamedValues outputs =
      builder.load(here())
          .run({{"x", tensor(numbers)}, {"scale", Value{tensor(four), f8e8m0}}})
          .get();
  EXPECT_EQ(floats(outputs, "y"), (std::vector<float>{12, -16}));
}

TEST_F(ElementTypes, products_of_quantised_float8_are_those_of_what_it_stands_for) {
  GraphBuilder builder;
  builder.input("x", {1, 2}, f8e4m3fn)
      .constant("two", reals({2}))
      .node("Cast", {"zero"}, {"none"}, {named("to", static_cast<std::int64_t>(f8e4m3fn))})
      .node("Transpose", {"x"}, {"column"})
      .node("QLinearMatMul", {"x", "two", "none", "column", "two", "none", "two", "none"}, {"q"})
      .node("Cast", {"q"}, {"y"}, {named("to", static_cast<std::int64_t>(f32))})
      .constant("zero", reals({0}))
      .output("y");
  const Value row{reshape(tensor(std::vector<std::uint8_t>{0x38, 0xC0}), {1, 2}), f8e4m3fn};
  EXPECT_EQ(floats(builder.load(here()).run({{"x", row}}).get(), "y"),
            (std::vector<float>{10}));  // (2·2 + -4·-4) / 2
}

// Outputs ------------------------------------------------------------------------------------------------

GraphBuilder& declared(GraphBuilder& builder, ElementType type) {
  builder.graph.outputs[0].type = {
      .kind = ValueKind::tensor, .element = type, .dims = {}, .inner = {}};
  return builder;
}

TEST_F(ElementTypes, an_output_of_another_type_than_it_is_declared_is_refused) {
  GraphBuilder builder = node("Abs", {f32});
  const std::vector<std::string> all = why_not(declared(builder, s64));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(all[0].ends_with("output 'y' is float, but is declared int64")) << all[0];
  EXPECT_NO_THROW((void)declared(builder, f32).load(here()));
}

TEST_F(ElementTypes, or_by_the_run_that_gives_it) {
  OperatorTable table = OperatorTable::standard();
  table.add({.name = "Same", .domain = "com.example", .lower = [](Call& call) {
               return Values{call.input(0)};
             }});
  GraphBuilder builder;
  builder.input("x", {2}).node("Same", {"x"}, {"y"}, {}, "com.example").output("y");
  const Model model = declared(builder, s64).load({.device = device_, .operators = &table});
  const Error error = refusal([&] { (void)model.run({{"x", ones({2})}}).get(); });
  EXPECT_EQ(error.code(), ErrorCode::dtype_mismatch);
  EXPECT_EQ(error.detail("output"), "y");
  EXPECT_EQ(error.detail("expected"), "int64");
  EXPECT_EQ(error.detail("came"), "float");
}

// Operators of a program's own ----------------------------------------------------------------------------

TEST_F(ElementTypes, an_operator_that_says_no_types_takes_all) {
  OperatorTable table = OperatorTable::standard();
  table.add({.name = "Flipped", .domain = "com.example", .lower = [](Call& call) {
               return Values{call.like(bitwise_xor(call.x(), full_like(call.x(), 0x80)))};
             }});
  GraphBuilder builder;
  builder.input("x", {3}, f8e4m3fn)
      .node("Flipped", {"x"}, {"a"}, {}, "com.example")
      .node("Cast", {"a"}, {"y"}, {named("to", static_cast<std::int64_t>(f32))})
      .output("y");
  const Model model = builder.load({.device = device_, .operators = &table});
  const std::vector<float> y = floats(model.run({{"x", float8(some_float8)}}).get(), "y");
  EXPECT_EQ(y[0], -1);
  EXPECT_EQ(y[1], 2);
}

TEST_F(ElementTypes, one_that_says_them_is_checked) {
  OperatorTable table = OperatorTable::standard();
  table.add({.name = "Twice",
             .domain = "com.example",
             .types = alike(float_types),
             .lower = [](Call& call) { return Values{call.like(call.x() * 2)}; }});
  GraphBuilder builder;
  builder.input("x", {2}, s32).node("Twice", {"x"}, {"y"}, {}, "com.example").output("y");
  const std::vector<std::string> all = why_not(builder, &table);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_NE(all[0].find("operand 0 is int32"), std::string::npos) << all[0];
}

TEST_F(ElementTypes, an_operand_is_like_one_before_it_whose_types_are_said) {
  const auto with = [](std::vector<OperandType> operands) {
    return Operator{.name = "Any",
                    .domain = "com.example",
                    .types = {.operands = std::move(operands)},
                    .lower = [](Call& call) { return Values{call.input(0)}; }};
  };
  OperatorTable table;
  for (const auto& operands : std::vector<std::vector<OperandType>>{
           {like(0)}, {like(1), any_type}, {any_type, like(0), like(1)}})
    EXPECT_EQ(refusal([&] { table.add(with(operands)); }).code(), ErrorCode::invalid_argument);
  EXPECT_NO_THROW(table.add(with({any_type, like(0)})));
}

}  // namespace
}  // namespace stoker::onnx
