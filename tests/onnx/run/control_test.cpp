#include <algorithm>

#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

using Control = OnnxTest;

Attribute number(std::string name, std::int64_t value) { return named(std::move(name), value); }

Model doubled_or_in_rows(const LoadOptions& options) {
  GraphBuilder twice;
  twice.node("Add", {"x", "x"}, {"twice"}).output("twice");
  GraphBuilder rows;
  rows.constant("shape", integers({2, -1}))
      .node("Reshape", {"x", "shape"}, {"rows"})
      .output("rows");
  return GraphBuilder{}
      .input("x", {"n"})
      .constant("zero", reals({0}))
      .constant("axes", integers({0}))
      .node("ReduceSum", {"x", "axes"}, {"sum"}, {number("keepdims", 0)})
      .node("Greater", {"sum", "zero"}, {"condition"})
      .node("If", {"condition"}, {"y"}, {twice.as("then_branch"), rows.as("else_branch")})
      .output("y")
      .load(options);
}

TEST_F(Control, branches_may_give_unlike_shapes) {
  const Model model = doubled_or_in_rows(here());
  for (int i = 0; i < 2; ++i) {
    const NamedValues up = model.run({{"x", tensor({1.0, 2.0})}}).get();
    EXPECT_EQ(floats(up, "y"), (std::vector<float>{2, 4}));
    const NamedValues down = model.run({{"x", tensor({-1.0, -2.0})}}).get();
    EXPECT_EQ(down.at("y").shape(), (Shape{2, 1}));
  }
  EXPECT_EQ(model.stats().traced, 3U);
}

TEST_F(Control, a_loop_asks_its_condition_in_each_round) {
  const Model model = doubling();
  const NamedValues out = model.run({{"x", tensor({1.0, 2.0})}}).get();
  EXPECT_EQ(floats(out, "last"), (std::vector<float>{64, 128}));
  EXPECT_EQ(out.at("all").shape(), (Shape{6, 2}));
  EXPECT_EQ(floats(model.run({{"x", tensor({60.0, 0.0})}}).get(), "last"),
            (std::vector<float>{120, 0}));
}

TEST_F(Control, a_round_that_asks_its_condition_keeps_no_answer_alive) {
  // What is alive is handed over at each cut: answers that stayed would make each round dearer than the one before.
  std::vector<std::weak_ptr<Value::Cell>> asked;
  std::ptrdiff_t most_alive = 0;
  OperatorTable table = OperatorTable::standard();
  table.add({.name = "Watched", .domain = "test", .lower = [&](Call& call) {
               call.input(0).visit_cells([&](const auto& cell) { asked.emplace_back(cell); });
               most_alive = std::max(most_alive, std::ranges::count_if(asked, [](const auto& one) {
                                       return !one.expired();
                                     }));
               return Values{call.input(0)};
             }});
  GraphBuilder body;
  body.input("round", {}, ElementType::s64)
      .input("before", {}, ElementType::boolean)
      .input("state", {"n"})
      .constant("end", reals({100}))
      .node("Add", {"state", "one"}, {"next"})
      .node("ReduceSum", {"next"}, {"sum"}, {number("keepdims", 0)})
      .node("Less", {"sum", "end"}, {"less"})
      .node("Watched", {"less"}, {"goes_on"}, {}, "test")
      .output("goes_on")
      .output("next");
  LoadOptions options = here();
  options.operators = &table;
  options.max_plans = 1;  // so that each round is traced
  const Model model = GraphBuilder{}
                          .input("x", {"n"})
                          .constant("one", reals({1}))
                          .constant("yes", {.type = ElementType::boolean,
                                            .dims = {},
                                            .bytes = SharedBytes::own({std::byte{1}}),
                                            .strings = {}})
                          .node("Loop", {"", "yes", "x"}, {"y"}, {body.as("body")})
                          .output("y")
                          .load(options);
  EXPECT_EQ(floats(model.run({{"x", tensor({0.0F, 0.0F})}}).get(), "y"),
            (std::vector<float>{50, 50}));
  EXPECT_EQ(asked.size(), 50U);
  EXPECT_LE(most_alive, 2);  // of this round and of the one before
}

TEST_F(Control, a_state_may_grow_in_each_round) {
  GraphBuilder body;
  body.input("round", {}, ElementType::s64)
      .input("before", {}, ElementType::boolean)
      .input("state", {"n"})
      .node("Concat", {"state", "x"}, {"next"}, {number("axis", 0)})
      .node("Identity", {"before"}, {"goes_on"})
      .output("goes_on")
      .output("next");
  const Model model = GraphBuilder{}
                          .input("x", {"n"})
                          .input("rounds", {}, ElementType::s64)
                          .node("Loop", {"rounds", "", "x"}, {"y"}, {body.as("body")})
                          .output("y")
                          .load(here());
  for (const std::int64_t rounds : {3, 0, 5})
    EXPECT_EQ(model.run({{"x", ones({2})}, {"rounds", full({}, rounds, DType::s64)}})
                  .get()
                  .at("y")
                  .shape(),
              Shape{2 * (rounds + 1)});
  EXPECT_EQ(model.stats().cuts, 0U);
}

TEST_F(Control, what_is_alive_at_a_cut_goes_on) {
  // `early` is made before the cut and read behind it, within a branch.
  GraphBuilder yes;
  yes.node("Add", {"early", "some"}, {"y1"}).output("y1");
  GraphBuilder no;
  no.node("Sub", {"early", "some"}, {"y2"}).output("y2");
  const Model model =
      GraphBuilder{}
          .input("x", {"n"})
          .constant("zero", reals({0}))
          .constant("one", integers({1}))
          .node("Mul", {"x", "x"}, {"squares"})
          .node("ReduceSum", {"squares"}, {"early"}, {number("keepdims", 0)})
          .node("Greater", {"x", "zero"}, {"is_positive"})
          .node("Compress", {"x", "is_positive"}, {"some"})
          .node("Size", {"some"}, {"size"})
          .node("Greater", {"size", "one"}, {"many"})
          .node("If", {"many"}, {"y"}, {yes.as("then_branch"), no.as("else_branch")})
          .output("y")
          .load(here());
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(floats(model.run({{"x", tensor({1.0, 2.0, -1.0})}}).get(), "y"),
              (std::vector<float>{7, 8}));
    EXPECT_EQ(floats(model.run({{"x", tensor({-1.0, 2.0, -1.0})}}).get(), "y"),
              (std::vector<float>{4}));
  }
}

TEST_F(Control, a_scan_of_nothing_gives_what_its_body_declares) {
  GraphBuilder body;
  body.input("state", {2}).input("row", {2}).node("Add", {"state", "row"}, {"next"});
  body.node("Neg", {"next"}, {"shown"}).output("next").output("shown");
  body.graph.outputs[1].type = body.graph.inputs[1].type;
  GraphBuilder builder;
  builder.input("start", {2}).input("x", {"n", 2});
  builder.node("Scan", {"start", "x"}, {"last", "all"},
               {named("num_scan_inputs", std::int64_t{1}),
                named("scan_output_axes", std::vector<std::int64_t>{-1}), body.as("body")});
  const Model model = builder.output("last").output("all").load(here());
  const NamedValues out = model.run({{"start", ones({2})}, {"x", zeros({0, 2})}}).get();
  EXPECT_EQ(floats(out, "last"), (std::vector<float>{1, 1}));
  EXPECT_EQ(out.at("all").shape(), (Shape{2, 0}));
}

TEST_F(Control, loops_within_loops_end) {
  const auto loop = [](GraphBuilder& around, const GraphBuilder& body, const std::string& name) {
    around.node("Loop", {"rounds", "", name + "_in"}, {name}, {body.as("body")});
  };
  const auto body = [](const std::string& name) {
    GraphBuilder made;
    made.input(name + "_i", {}, ElementType::s64).input(name + "_c", {}, ElementType::boolean);
    return made.input(name + "_in", {}, ElementType::s64);
  };
  GraphBuilder inner = body("inner");
  inner.node("Identity", {"inner_in"}, {"inner_out"}).output("inner_c").output("inner_out");
  GraphBuilder outer = body("outer");
  outer.node("Identity", {"outer_in"}, {"middle_in"});
  loop(outer, inner, "middle");
  outer.output("outer_c").output("middle");
  GraphBuilder builder;
  builder.input("rounds", {}, ElementType::s64).input("all_in", {}, ElementType::s64);
  loop(builder, outer, "all");
  LoadOptions options = here();
  options.max_nodes = 1000;
  const Model model = builder.output("all").load(options);
  EXPECT_EQ(
      whole(model.run({{"rounds", Known::integer(9)}, {"all_in", Known::integer(7)}}).get(), "all"),
      std::vector<std::int64_t>{7});
  const NamedValues inputs{{"rounds", Known::integer(60000)}, {"all_in", Known::integer(7)}};
  EXPECT_EQ(refusal([&] { (void)model.run(inputs).get(); }).code(), ErrorCode::limit_exceeded);
}

}  // namespace
}  // namespace stoker::onnx
