#include "stoker/runtime/futures/cancel.hpp"
#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

using CustomOperators = OnnxTest;

Operator halves() {
  return {.name = "Halves",
          .domain = "com.example",
          .since = {1},
          .most_outputs = 2,
          .lower = [](Call& call) {
            const std::int64_t half = call.shape()[0] / 2;
            return Values{call.like(slice_along_axis(call.x(), 0, half)),
                          call.like(slice_along_axis(call.x(), half, half))};
          }};
}

TEST_F(CustomOperators, a_program_adds_a_domain_of_its_own) {
  OperatorTable table = OperatorTable::standard();
  table.add(halves());
  LoadOptions options = here();
  options.operators = &table;
  const Model model = GraphBuilder{}
                          .input("x", {"n"})
                          .node("Halves", {"x"}, {"a", "b"}, {}, "com.example")
                          .node("Add", {"a", "b"}, {"y"})
                          .output("y")
                          .load(options);
  EXPECT_EQ(floats(model.run({{"x", tensor({1.0, 2.0, 3.0, 4.0})}}).get(), "y"),
            (std::vector<float>{4, 6}));
}

TEST_F(CustomOperators, any_exception_of_a_rule_is_an_error_that_names_the_node) {
  OperatorTable table = OperatorTable::standard();
  table.add({.name = "Bad", .domain = "com.example", .lower = [](Call&) -> Values {
               throw std::out_of_range{"too far"};
             }});
  GraphBuilder builder;
  builder.input("x", {"n"}).node("Bad", {"x"}, {"y"}, {}, "com.example").output("y");
  const Model model = builder.load({.device = device_, .operators = &table});
  const Error error = refusal([&] { (void)model.run({{"x", ones({1})}}).get(); });
  EXPECT_EQ(error.code(), ErrorCode::handler_failed);
  EXPECT_NE(std::string{error.what()}.find("too far"), std::string::npos);
  EXPECT_FALSE(error.detail("node").empty());
}

TEST_F(CustomOperators, a_run_that_is_cancelled_while_it_is_traced_goes_no_further) {
  const CancelSource source;
  int later = 0;
  OperatorTable table = OperatorTable::standard();
  table.add({.name = "Cancels", .domain = "com.example", .lower = [&](Call& call) {
               source.cancel(cancelled_error("test"));
               return Values{call.input(0)};
             }});
  table.add({.name = "Later", .domain = "com.example", .lower = [&](Call& call) {
               ++later;
               return Values{call.input(0)};
             }});
  GraphBuilder builder;
  builder.input("x", {"n"})
      .node("Cancels", {"x"}, {"a"}, {}, "com.example")
      .node("Later", {"a"}, {"y"}, {}, "com.example")
      .output("y");
  const Model model = builder.load({.device = device_, .operators = &table});
  const Error error = refusal([&] {
    (void)model.run({{"x", ones({1})}}, {.limits = {.cancel = source.token()}}).get();
  });
  EXPECT_EQ(error.code(), ErrorCode::cancelled);
  EXPECT_EQ(later, 0);
}

TEST_F(CustomOperators, a_name_is_taken_once) {
  OperatorTable table = OperatorTable::standard();
  table.add(halves());
  EXPECT_EQ(refusal([&] { table.add(halves()); }).code(), ErrorCode::already_exists);
  EXPECT_EQ(refusal([&] { table.add({.name = "Relu", .lower = halves().lower}); }).code(),
            ErrorCode::already_exists);
}

TEST_F(CustomOperators, a_definition_needs_a_rule) {
  OperatorTable table;
  EXPECT_EQ(refusal([&] { table.add({.name = "Nothing"}); }).code(), ErrorCode::invalid_argument);
}

TEST_F(CustomOperators, may_be_a_choice_of_those_that_are_there) {
  OperatorTable table;
  table.add(*OperatorTable::standard().find("", "Relu"));  // of version 14
  LoadOptions options = here();
  options.operators = &table;
  const auto loaded = [&](const char* op) {
    return GraphBuilder{}.input("x", {2}).node(op, {"x"}, {"y"}).output("y").load(options);
  };
  EXPECT_EQ(floats(loaded("Relu").run({{"x", tensor({-1.0, 2.0})}}).get(), "y"),
            (std::vector<float>{0, 2}));
  EXPECT_EQ(refusal([&] { (void)loaded("Abs"); }).code(), ErrorCode::unsupported);
}

TEST_F(CustomOperators, the_version_is_the_last_one_that_the_opset_has) {
  const auto softmax = OperatorTable::standard().find("ai.onnx", "Softmax");
  ASSERT_NE(softmax, nullptr);
  EXPECT_EQ(version_of(*softmax, 12), 11);
  EXPECT_EQ(version_of(*softmax, 13), 13);
  EXPECT_EQ(version_of(*OperatorTable::standard().find("", "Gelu"), 19), 0);
}

}  // namespace
}  // namespace stoker::onnx
