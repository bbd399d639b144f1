// Loops whose states grow in each round, and long Scans: how many plans they need.
#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

class Growing : public OnnxTest {
 protected:
  static Attribute number(std::string name, std::int64_t value) {
    return named(std::move(name), value);
  }
  /// Appends the rounds' numbers to `start`, along the axis, as long as they are below `end`.
  [[nodiscard]] Model counting(std::int64_t axis, const LoadOptions& options) const {
    GraphBuilder body;
    body.input("round", {}, ElementType::s64)
        .input("before", {}, ElementType::boolean)
        .input("state", {1, 1})
        .input("all", {"n", "m"})
        .node("Add", {"state", "one"}, {"next"})
        .node("Expand", {"state", "part"}, {"new"})
        .node("Concat", {"all", "new"}, {"longer"}, {number("axis", axis)})
        .node("Less", {"next", "end"}, {"less"})
        .node("Squeeze", {"less"}, {"goes_on"})
        .output("goes_on")
        .output("next")
        .output("longer");
    return GraphBuilder{}
        .input("x", {1, 1})
        .input("end", {1, 1})
        .input("start", {"n", "m"})
        .constant("one", one_by_one(1))
        .constant("part", integers(axis == 0 ? std::vector<std::int64_t>{1, 2}
                                             : std::vector<std::int64_t>{2, 1}))
        .constant("yes", {.type = ElementType::boolean,
                          .dims = {},
                          .bytes = SharedBytes::own({std::byte{1}}),
                          .strings = {}})
        .node("Loop", {"", "yes", "x", "start"}, {"last", "grown"}, {body.as("body")})
        .output("grown")
        .load(options);
  }
  static TensorData one_by_one(float value) {
    TensorData made = reals({value});
    made.dims = {1, 1};
    return made;
  }
  static NamedValues up_to(float end, const Tensor& start) {
    return {{"x", zeros({1, 1})}, {"end", full({1, 1}, end)}, {"start", start}};
  }
  /// Running sums of the rows of x[n, 2], from the last one with `reversed`, as columns.
  [[nodiscard]] Model sums(bool reversed, const LoadOptions& options) const {
    GraphBuilder body;
    body.input("state", {2})
        .input("row", {2})
        .node("Add", {"state", "row"}, {"next"})
        .node("Identity", {"next"}, {"shown"})
        .output("next")
        .output("shown");
    const Axes directions{reversed ? 1 : 0};
    return GraphBuilder{}
        .input("start", {2})
        .input("x", {"n", 2})
        .node("Scan", {"start", "x"}, {"last", "all"},
              {number("num_scan_inputs", 1), named("scan_output_axes", Axes{-1}),
               named("scan_input_directions", directions),
               named("scan_output_directions", directions), body.as("body")})
        .output("last")
        .output("all")
        .load(options);
  }
};

TEST_F(Growing, a_state_that_is_only_appended_to_needs_no_plan_for_each_length) {
  for (const std::int64_t axis : {0, 1}) {
    const Model model = counting(axis, here());
    const Model plain = counting(axis, {.device = device_, .optimize = Optimize::none});
    const Tensor start = full(axis == 0 ? Shape{1, 2} : Shape{2, 1}, -1.0F);
    for (const float end : {1.0F, 2.0F, 30.0F}) {
      const NamedValues grown = model.run(up_to(end, start)).get();
      const NamedValues expected = plain.run(up_to(end, start)).get();
      EXPECT_EQ(grown.at("grown").shape(), expected.at("grown").shape());
      EXPECT_EQ(floats(grown, "grown"), floats(expected, "grown"));
    }
    // The first round, a later one, and what follows each number of rounds.
    EXPECT_EQ(model.stats().traced, 5U);
    EXPECT_GT(plain.stats().traced, 30U);
  }
}

TEST_F(Growing, a_state_may_begin_empty) {
  const Model model = counting(0, here());
  EXPECT_EQ(floats(model.run(up_to(3, zeros({0, 2}))).get(), "grown"),
            (std::vector<float>{0, 0, 1, 1, 2, 2}));
}

TEST_F(Growing, rounds_may_append_unlike_extents) {
  GraphBuilder body;
  body.input("round", {}, ElementType::s64)
      .input("before", {}, ElementType::boolean)
      .input("all", {"n"})
      .node("Unsqueeze", {"round", "axes"}, {"count"})
      .node("Expand", {"one", "count"}, {"new"})
      .node("Concat", {"all", "new"}, {"longer"}, {number("axis", 0)})
      .output("before")
      .output("longer");
  const Model model = GraphBuilder{}
                          .input("x", {"n"})
                          .constant("rounds", integers({4}))
                          .constant("axes", integers({0}))
                          .constant("one", reals({1}))
                          .node("Loop", {"rounds", "", "x"}, {"y"}, {body.as("body")})
                          .output("y")
                          .load(here());
  EXPECT_EQ(floats(model.run({{"x", tensor({7.0F})}}).get(), "y"),
            (std::vector<float>{7, 1, 1, 1, 1, 1, 1}));
}

TEST_F(Growing, integers_that_the_host_knows_stay_known) {
  GraphBuilder body;
  body.input("round", {}, ElementType::s64)
      .input("before", {}, ElementType::boolean)
      .input("all", {"n"}, ElementType::s64)
      .node("Add", {"round", "two"}, {"new"})
      .node("Concat", {"all", "new"}, {"longer"}, {number("axis", 0)})
      .output("before")
      .output("longer");
  const Model model = GraphBuilder{}
                          .input("x", {})
                          .constant("rounds", integers({2}))
                          .constant("two", integers({2}))
                          .constant("none", integers({}))
                          .node("Loop", {"rounds", "", "none"}, {"extents"}, {body.as("body")})
                          .node("Expand", {"x", "extents"}, {"y"})
                          .output("y")
                          .load(here());
  const NamedValues out = model.run({{"x", tensor(5.0F)}}).get();
  EXPECT_EQ(out.at("y").shape(), (Shape{2, 3}));
  EXPECT_EQ(model.stats().cuts, 0U);
}

TEST_F(Growing, a_long_scan_is_traced_in_parts) {
  for (const bool reversed : {false, true}) {
    const Model model = sums(reversed, here());
    for (const std::int64_t length : {5000, 100}) {
      const NamedValues out = model.run({{"start", zeros({2})}, {"x", ones({length, 2})}}).get();
      EXPECT_EQ(floats(out, "last"), (std::vector<float>(2, static_cast<float>(length))));
      ASSERT_EQ(out.at("all").shape(), (Shape{2, length}));
      std::vector<float> all(static_cast<std::size_t>(2 * length));
      for (std::int64_t i = 0; i < 2 * length; ++i) {
        const std::int64_t place = i % length;
        all[static_cast<std::size_t>(i)] =
            static_cast<float>(reversed ? length - place : place + 1);
      }
      EXPECT_EQ(floats(out, "all"), all);
    }
    // The first part of the long one, a later part, and what follows; the short one is a single program.
    EXPECT_EQ(model.stats().traced, 4U);
    EXPECT_EQ(model.stats().cuts, 0U);
  }
}

TEST_F(Growing, a_part_of_a_scan_takes_the_elements_of_its_own_rounds) {
  const std::int64_t length = 4500;
  const Model model = sums(false, here());
  const Model reversed = sums(true, here());
  std::vector<float> numbers(2 * static_cast<std::size_t>(length));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 7);
  const NamedValues inputs{{"start", zeros({2})}, {"x", tensor(numbers, {length, 2})}};
  const auto first = floats(model.run(inputs).get(), "all");
  const auto last = floats(reversed.run(inputs).get(), "all");
  std::vector<float> forwards(numbers.size());
  std::vector<float> backwards(numbers.size());
  for (std::size_t column = 0; column < 2; ++column) {
    const std::size_t begin = column * static_cast<std::size_t>(length);
    float sum = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i)
      forwards[begin + i] = sum += numbers[2 * i + column];
    sum = 0;
    for (std::size_t i = static_cast<std::size_t>(length); i-- > 0;)
      backwards[begin + i] = sum += numbers[2 * i + column];
  }
  EXPECT_EQ(first, forwards);
  EXPECT_EQ(last, backwards);
}

}  // namespace
}  // namespace stoker::onnx
