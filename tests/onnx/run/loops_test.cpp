// Loops whose rounds are parted: by a condition that the body computes, or by another cut in it.
#include <algorithm>
#include <array>
#include <set>

#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

const TensorData yes{.type = ElementType::boolean,
                     .dims = {},
                     .bytes = SharedBytes::own({std::byte{1}}),
                     .strings = {}};
Attribute number(std::string name, std::int64_t value) { return named(std::move(name), value); }

class Loops : public OnnxTest {
 protected:
  /// Of a loop that adds 1 to `state` until it is `end` or more.
  static GraphBuilder counting() {
    GraphBuilder body;
    return body.input("round", {}, ElementType::s64)
        .input("before", {}, ElementType::boolean)
        .input("state", {})
        .node("Add", {"state", "one"}, {"next"})
        .node("Less", {"next", "end"}, {"goes_on"})
        .output("goes_on")
        .output("next");
  }
  static GraphBuilder around() {
    GraphBuilder graph;
    return graph.input("x", {}).input("end", {}).constant("one", scalar(1)).constant("yes", yes);
  }
  static TensorData scalar(float value) {
    TensorData made = reals({value});
    made.dims = {};
    return made;
  }
  static NamedValues up_to(double end) {
    return {{"x", tensor(0.0F)}, {"end", tensor(static_cast<float>(end))}};
  }
};

TEST_F(Loops, have_one_plan_for_all_later_rounds) {
  const Model model = around()
                          .node("Loop", {"", "yes", "x"}, {"y"}, {counting().as("body")})
                          .output("y")
                          .load(here());
  EXPECT_EQ(floats(model.run(up_to(1000)).get(), "y"), std::vector<float>{1000});
  // The first round, a later one, and what follows.
  EXPECT_EQ(model.stats().traced, 3U);
  EXPECT_EQ(model.stats().cuts, 1000U);
  EXPECT_EQ(floats(model.run(up_to(300)).get(), "y"), std::vector<float>{300});
  EXPECT_EQ(model.stats().traced, 3U);
  EXPECT_EQ(floats(model.run(up_to(1)).get(), "y"), std::vector<float>{1});
  EXPECT_EQ(model.stats().traced, 3U);
  EXPECT_EQ(model.stats().segments, 3U);
}

TEST_F(Loops, stack_what_each_round_gives) {
  GraphBuilder body = counting();
  body.node("Cast", {"round"}, {"real"}, {number("to", 1)})
      .node("Mul", {"real", "next"}, {"shown"})
      .output("shown")
      .output("one");
  for (const std::size_t i : {2, 3}) body.graph.outputs[i].type = body.graph.inputs[2].type;
  const Model model =
      around()
          .input("most", {}, ElementType::s64)
          .input("start", {}, ElementType::boolean)
          .node("Loop", {"most", "start", "x"}, {"y", "all", "ones"}, {body.as("body")})
          .output("y")
          .output("all")
          .output("ones")
          .load(here());
  for (const std::int64_t most : {200, 7, 1, 0, 200})
    for (const bool starts : {true, false}) {
      NamedValues inputs = up_to(90);
      inputs.emplace("most", Known::integer(most));
      inputs.emplace("start", Known::integer(starts ? 1 : 0, ElementType::boolean));
      if (!starts && most == 0) continue;
      const NamedValues out = model.run(inputs).get();
      const std::int64_t rounds = starts ? std::min<std::int64_t>(most, 90) : 0;
      std::vector<float> all;
      for (std::int64_t i = 0; i < rounds; ++i) all.push_back(static_cast<float>(i * (i + 1)));
      EXPECT_EQ(floats(out, "y"), std::vector<float>{static_cast<float>(rounds)});
      EXPECT_EQ(floats(out, "all"), all);
      EXPECT_EQ(floats(out, "ones"), std::vector<float>(all.size(), 1));
    }
}

TEST_F(Loops, go_on_with_the_same_plan_behind_any_number_of_rounds) {
  const Model model = around()
                          .node("Loop", {"", "yes", "x"}, {"last"}, {counting().as("body")})
                          .node("Neg", {"last"}, {"y"})
                          .output("y")
                          .load(here());
  for (int end = 2; end < 40; ++end)
    EXPECT_EQ(floats(model.run(up_to(end)).get(), "y"),
              std::vector<float>{-static_cast<float>(end)});
  EXPECT_EQ(model.stats().traced, 3U);
}

TEST_F(Loops, know_in_each_round_what_was_asked_of_tensors_around_them) {
  // `size` is asked for in the first round only, and other runs have another one.
  GraphBuilder body = counting();
  body.node("Expand", {"next", "sizes"}, {"wide"})
      .node("ReduceSum", {"wide"}, {"sum"}, {number("keepdims", 0)})
      .output("sum");
  const Model model = around()
                          .input("z", {})
                          .constant("axes", integers({0}))
                          .node("Cast", {"z"}, {"size"}, {number("to", 7)})
                          .node("Unsqueeze", {"size", "axes"}, {"sizes"})
                          .node("Loop", {"", "yes", "x"}, {"last", "y"}, {body.as("body")})
                          .output("y")
                          .load(here());
  for (int i = 0; i < 2; ++i)
    for (const float size : {3.0F, 5.0F}) {
      NamedValues inputs = up_to(4);
      inputs.emplace("z", tensor(size));
      EXPECT_EQ(floats(model.run(inputs).get(), "y"),
                (std::vector<float>{size, 2 * size, 3 * size, 4 * size}));
    }
}

TEST_F(Loops, are_followed_by_a_plan_for_the_shapes_that_rounds_gave) {
  // What is not zero is counted in each round; after as many rounds, of equal states, other runs have other shapes.
  GraphBuilder body = counting();
  body.node("NonZero", {"z"}, {"places"})
      .node("Cast", {"places"}, {"real"}, {number("to", 1)})
      .node("Mul", {"real", "none"}, {"nothing"})
      .node("Add", {"nothing", "next"}, {"wide"})
      .output("wide");
  const Model model = around()
                          .input("z", {6})
                          .constant("none", scalar(0))
                          .node("Loop", {"", "yes", "x"}, {"last", "all"}, {body.as("body")})
                          .node("Shape", {"all"}, {"y"})
                          .node("Neg", {"all"}, {"negative"})
                          .output("y")
                          .output("negative")
                          .load(here());
  for (const std::int64_t count : {3, 5, 3}) {
    std::array<float, 6> z{};
    std::fill_n(z.begin(), count, 1.0F);
    NamedValues inputs = up_to(2);
    inputs.emplace("z", tensor(std::span<const float>{z}, Shape{6}));
    const NamedValues out = model.run(inputs).get();
    EXPECT_EQ(whole(out, "y"), (std::vector<std::int64_t>{2, 1, count}));
    std::vector<float> negative(static_cast<std::size_t>(count), -1);
    negative.resize(static_cast<std::size_t>(2 * count), -2);
    EXPECT_EQ(floats(out, "negative"), negative);
  }
}

TEST_F(Loops, draw_anew_in_each_round) {
  GraphBuilder body = counting();
  body.node("RandomUniformLike", {"next"}, {"drawn"}).output("drawn");
  const Model model = around()
                          .node("Loop", {"", "yes", "x"}, {"last", "all"}, {body.as("body")})
                          .node("RandomUniformLike", {"last"}, {"after"})
                          .output("all")
                          .output("after")
                          .load(here());
  const NamedValues first = model.run(up_to(100), {.seed = 5}).get();
  std::vector<float> all = floats(first, "all");
  EXPECT_EQ(floats(model.run(up_to(100), {.seed = 5}).get(), "all"), all);
  EXPECT_NE(floats(model.run(up_to(100), {.seed = 6}).get(), "all"), all);
  all.push_back(floats(first, "after")[0]);
  EXPECT_EQ(std::set<float>(all.begin(), all.end()).size(), 101U);
}

TEST_F(Loops, may_have_states_whose_elements_decide_about_shapes) {
  // Each length is a plan of its own, and so is each number that the host knows.
  GraphBuilder body = counting();
  body.input("count", {1}, ElementType::s64)
      .input("text", {"n"})
      .node("Add", {"count", "a_one"}, {"count_next"})
      .node("Expand", {"next", "count_next"}, {"wide"})
      .node("Concat", {"text", "wide"}, {"longer"}, {number("axis", 0)})
      .output("count_next")
      .output("longer");
  const Model model = around()
                          .constant("a_one", integers({1}))
                          .constant("zero", integers({0}))
                          .constant("nothing", reals({}))
                          .node("Loop", {"", "yes", "x", "zero", "nothing"}, {"last", "count", "y"},
                                {body.as("body")})
                          .output("y")
                          .load(here());
  for (int i = 0; i < 2; ++i) {
    const std::vector<float> y = floats(model.run(up_to(24)).get(), "y");
    std::vector<float> expected;
    for (int round = 1; round <= 24; ++round)
      expected.insert(expected.end(), static_cast<std::size_t>(round), static_cast<float>(round));
    EXPECT_EQ(y, expected);
  }
}

TEST_F(Loops, may_have_lists_as_states) {
  GraphBuilder body = counting();
  body.input("list", {}).node("SequenceInsert", {"list", "next"}, {"longer"}).output("longer");
  body.graph.inputs.back().type = {};
  const Model model =
      around()
          .node("SequenceEmpty", {}, {"empty"})
          .node("Loop", {"", "yes", "x", "empty"}, {"last", "list"}, {body.as("body")})
          .node("ConcatFromSequence", {"list"}, {"y"}, {number("axis", 0), number("new_axis", 1)})
          .output("y")
          .load(here());
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(floats(model.run(up_to(5)).get(), "y"), (std::vector<float>{1, 2, 3, 4, 5}));
}

TEST_F(Loops, within_loops_share_their_plans) {
  // The inner loop counts to the state of the outer one.
  GraphBuilder inner;
  inner.input("i", {}, ElementType::s64)
      .input("c", {}, ElementType::boolean)
      .input("from", {})
      .node("Add", {"from", "one"}, {"to"})
      .node("Less", {"to", "next"}, {"inner_goes_on"})
      .output("inner_goes_on")
      .output("to");
  GraphBuilder outer = counting();
  outer.input("sum", {})
      .node("Loop", {"", "yes", "zero"}, {"counted"}, {inner.as("body")})
      .node("Add", {"sum", "counted"}, {"sum_next"})
      .output("sum_next");
  const Model model = around()
                          .constant("zero", scalar(0))
                          .node("Loop", {"", "yes", "x", "zero"}, {"last", "y"}, {outer.as("body")})
                          .output("y")
                          .load(here());
  for (int i = 0; i < 2; ++i)
    for (const int end : {30, 3, 1}) {
      const int sum = end * (end + 1) / 2;
      EXPECT_EQ(floats(model.run(up_to(end)).get(), "y"),
                std::vector<float>{static_cast<float>(sum)});
    }
  EXPECT_LT(model.stats().traced, 20U);
  const std::uint64_t traced = model.stats().traced;
  EXPECT_EQ(floats(model.run(up_to(60)).get(), "y"), std::vector<float>{1830});
  EXPECT_EQ(model.stats().traced, traced);
}

/// Of a loop over `state` that adds the round to it, which it gives, too.
GraphBuilder adding() {
  GraphBuilder body;
  return body.input("round", {}, ElementType::s64)
      .input("before", {}, ElementType::boolean)
      .input("state", {}, ElementType::s64)
      .node("Add", {"state", "round"}, {"next"})
      .output("before")
      .output("next")
      .output("next");
}

TEST_F(Loops, of_many_known_rounds_are_few_programs_that_repeat) {
  GraphBuilder graph;
  graph.input("x", {}, ElementType::s64)
      .input("most", {}, ElementType::s64)
      .node("Loop", {"most", "", "x"}, {"y", "all"}, {adding().as("body")})
      .output("y")
      .output("all");
  const Model model = graph.load(here());
  for (const std::int64_t most : {4096, 4097, 10000, 12345}) {
    const std::uint64_t traced = model.stats().traced;
    for (int i = 0; i < 2; ++i) {
      const NamedValues out =
          model.run({{"x", tensor(std::int64_t{5})}, {"most", Known::integer(most)}}).get();
      std::vector<std::int64_t> all{5};
      for (std::int64_t round = 1; round < most; ++round) all.push_back(all.back() + round);
      EXPECT_EQ(whole(out, "y"), std::vector<std::int64_t>{all.back()});
      EXPECT_EQ(whole(out, "all"), all);
    }
    EXPECT_EQ(model.stats().traced - traced, most == 4096 ? 1U : 3U);
  }
  EXPECT_EQ(model.stats().cuts, 0U);
  // A binding is one program.
  const Binding binding =
      model.bind({{"x", tensor(std::int64_t{5})}, {"most", Known::integer(4200)}});
  binding.run().get();
  EXPECT_EQ(binding.outputs().at("y").read<std::int64_t>().get(),
            std::vector<std::int64_t>{5 + 4199 * 4200 / 2});
}

TEST_F(Loops, of_many_known_rounds_whose_states_grow_are_one_program) {
  GraphBuilder body = adding();
  body.graph.inputs[2].type.dims->push_back(Dim{"n"});
  body.graph.nodes.clear();
  body.node("Concat", {"state", "state"}, {"next"}, {number("axis", 0)});
  body.graph.outputs.pop_back();
  for (int i = 0; i < 1000; ++i) body.node("Identity", {"state"}, {"unread" + std::to_string(i)});
  LoadOptions options = here();
  options.optimize = Optimize::none;
  const Model model = GraphBuilder{}
                          .input("x", {1}, ElementType::s64)
                          .constant("most", integers({6}))
                          .node("Loop", {"most", "", "x"}, {"y"}, {body.as("body")})
                          .output("y")
                          .load(options);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(whole(model.run({{"x", full({1}, 7, DType::s64)}}).get(), "y"),
              std::vector<std::int64_t>(64, 7));
  EXPECT_EQ(model.stats().traced, 1U);
}

TEST_F(Loops, keep_the_plans_of_their_first_rounds_where_there_are_too_many) {
  GraphBuilder body = counting();
  body.input("list", {"n"})
      .node("Concat", {"list", "some"}, {"longer"}, {number("axis", 0)})
      .output("longer");
  LoadOptions options = here();
  options.max_plans = 8;
  options.without = {"growing_states"};  // it would need few plans
  const Model model = around()
                          .constant("some", reals({1}))
                          .node("Loop", {"", "yes", "x", "some"}, {"last", "y"}, {body.as("body")})
                          .output("y")
                          .load(options);
  std::uint64_t traced = 21;  // each length, and what follows
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(floats(model.run(up_to(20)).get(), "y"), std::vector<float>(21, 1));
    EXPECT_EQ(model.stats().traced, traced);
    EXPECT_EQ(model.stats().segments, 8U);
    traced += 21 - 8;
  }
}

TEST_F(Loops, of_a_number_of_rounds_only_do_not_ask_the_body_whether_they_go_on) {
  const Model model = around()
                          .constant("most", integers({20}))
                          .node("Loop", {"most", "", "x"}, {"y"}, {counting().as("body")})
                          .output("y")
                          .load(here());
  EXPECT_EQ(floats(model.run(up_to(7)).get(), "y"), std::vector<float>{20});
  EXPECT_EQ(model.stats().cuts, 0U);
}

TEST_F(Loops, with_neither_a_number_nor_a_condition_ask_the_body) {
  const Model model =
      around().node("Loop", {"", "", "x"}, {"y"}, {counting().as("body")}).output("y").load(here());
  EXPECT_EQ(floats(model.run(up_to(7)).get(), "y"), std::vector<float>{7});
}

TEST_F(Loops, with_nothing_but_outputs_to_stack_ask_the_body) {
  GraphBuilder body;
  body.input("round", {}, ElementType::s64)
      .input("before", {}, ElementType::boolean)
      .constant("last", integers({2}))
      .node("Less", {"round", "last"}, {"goes_on"})
      .node("Identity", {"round"}, {"same"})
      .output("goes_on")
      .output("same");
  const Model model =
      GraphBuilder{}.node("Loop", {"", ""}, {"y"}, {body.as("body")}).output("y").load(here());
  EXPECT_EQ(model.run({}).get().at("y").tensor().to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{0, 1, 2}));
}

TEST_F(Loops, without_end_reach_the_limit_of_nodes) {
  LoadOptions options = here();
  options.max_nodes = 1000;
  const Model model = around()
                          .node("Loop", {"", "yes", "x"}, {"y"}, {counting().as("body")})
                          .output("y")
                          .load(options);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(refusal([&] { (void)model.run(up_to(1e9)).get(); }).code(),
              ErrorCode::limit_exceeded);
  EXPECT_EQ(floats(model.run(up_to(200)).get(), "y"), std::vector<float>{200});
}

TEST_F(Loops, whose_rounds_give_unlike_shapes_are_refused) {
  GraphBuilder body = counting();
  body.input("text", {"n"})
      .node("Concat", {"text", "text"}, {"longer"}, {number("axis", 0)})
      .output("longer")
      .output("longer");
  const Model model =
      around()
          .constant("some", reals({1}))
          .node("Loop", {"", "yes", "x", "some"}, {"last", "text_last", "y"}, {body.as("body")})
          .output("y")
          .load(here());
  EXPECT_EQ(refusal([&] { (void)model.run(up_to(3)).get(); }).code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(model.run(up_to(1)).get().at("y").shape(), (Shape{1, 2}));
}

}  // namespace
}  // namespace stoker::onnx
