#include "stoker/actors/device/device_client.hpp"
#include "stoker/pipeline/tensor/lowering/evaluation.hpp"
#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

using Plans = OnnxTest;

/// y = x in rows of three: the shape comes from x's own.
Model rows_of_three(const LoadOptions& options) {
  return GraphBuilder{}
      .input("x", {"n"})
      .constant("three", integers({3}))
      .constant("minus", integers({-1}))
      .node("Shape", {"x"}, {"extents"})
      .node("Div", {"extents", "three"}, {"rows"})
      .node("Concat", {"rows", "minus"}, {"shape"}, {named("axis", std::int64_t{0})})
      .node("Reshape", {"x", "shape"}, {"y"})
      .output("y")
      .output("rows")
      .load(options);
}

/// The positives of x, of which only the run knows how many there are, doubled.
Model positives(const LoadOptions& options) {
  return GraphBuilder{}
      .input("x", {"n"})
      .constant("zero", reals({0}))
      .node("Greater", {"x", "zero"}, {"is_positive"})
      .node("Compress", {"x", "is_positive"}, {"some"})
      .node("Add", {"some", "some"}, {"y"})
      .output("y")
      .load(options);
}

TEST_F(Plans, shape_arithmetic_is_done_while_the_model_is_traced) {
  const Model model = rows_of_three(here());
  const NamedValues out = model.run({{"x", iota({6}, DType::f32)}}).get();
  EXPECT_EQ(out.at("y").shape(), (Shape{2, 3}));
  EXPECT_EQ(whole(out, "rows"), (std::vector<std::int64_t>{2}));
  EXPECT_EQ(model.stats().cuts, 0U);
}

TEST_F(Plans, each_signature_is_traced_once) {
  const Model model = rows_of_three(here());
  for (const std::int64_t n : {6, 9, 6, 9, 6})
    EXPECT_EQ(model.run({{"x", iota({n}, DType::f32)}}).get().at("y").shape(), (Shape{n / 3, 3}));
  EXPECT_EQ(model.stats().traced, 2U);
  EXPECT_EQ(model.stats().found, 3U);
}

TEST_F(Plans, that_make_room_leave_no_program_on_the_device) {
  LoadOptions few = here();
  few.max_plans = 4;
  const Model model =
      GraphBuilder{}.input("x", {"n"}).node("Add", {"x", "x"}, {"y"}).output("y").load(few);
  const auto run = [&](std::size_t n) {
    const Tensor x{device_.buffer(std::vector<float>(n, 1))};
    EXPECT_EQ(floats(model.run({{"x", x}}).get(), "y"), std::vector<float>(n, 2));
    return device_.client()->services().get<expr::ProgramCache>()->counters().programs;
  };
  const std::size_t before = run(1) - 1;
  for (std::size_t n = 2; n <= 20; ++n) run(n);
  EXPECT_EQ(run(20), before + 4);
  EXPECT_EQ(model.stats().traced, 20U);
  EXPECT_EQ(run(1), before + 4) << "one that left is compiled again";
}

TEST_F(Plans, that_make_room_leave_no_program_of_constants_with_several_results) {
  LoadOptions few = here();
  few.max_plans = 4;
  // The largest two of as many threes as x has numbers: a constant of the plan, one of TopK's two results.
  const Model model =
      GraphBuilder{}
          .input("x", {"n"})
          .constant("two", integers({2}))
          .node("Shape", {"x"}, {"extents"})
          .node("ConstantOfShape", {"extents"}, {"threes"}, {named("value", reals({3}))})
          .node("TopK", {"threes", "two"}, {"largest", "places"})
          .node("ReduceSum", {"largest"}, {"six"}, {named("keepdims", std::int64_t{0})})
          .node("Add", {"x", "six"}, {"y"})
          .output("y")
          .load(few);
  const auto programs_after = [&](std::size_t n) {
    const Tensor x{device_.buffer(std::vector<float>(n, 1))};
    EXPECT_EQ(floats(model.run({{"x", x}}).get(), "y"), std::vector<float>(n, 7));
    return device_.client()->services().get<expr::ProgramCache>()->counters().programs;
  };
  for (std::size_t n = 2; n < 8; ++n) programs_after(n);
  const std::size_t before = programs_after(8);
  for (std::size_t n = 9; n < 30; ++n) EXPECT_EQ(programs_after(n), before) << n;
}

TEST_F(Plans, weights_of_wide_convolutions_are_put_into_blocks_once_for_all_plans) {
  const std::vector<std::int64_t> extents{48, 32, 3, 3};
  std::vector<float> weights(48 * 32 * 9);
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = 0.01F * static_cast<float>(static_cast<int>(i * 7 % 23) - 11);
  TensorData data = reals(weights);
  data.dims = extents;
  const auto convolution = [&](bool constant) {
    GraphBuilder graph;
    graph.input("x", {1, 32, "h", "w"});
    if (constant)
      graph.constant("k", data);
    else
      graph.input("k", {48, 32, 3, 3});
    return graph
        .node("Conv", {"x", "k"}, {"y"}, {named("pads", std::vector<std::int64_t>{1, 1, 1, 1})})
        .output("y")
        .load(here());
  };
  const Model model = convolution(true), plain = convolution(false);
  const Tensor k = reshape(tensor(weights), extents);
  for (const std::int64_t side : {8, 10, 8}) {
    const Tensor x = sin(reshape(iota({32 * side * side}, DType::f32), {1, 32, side, side}));
    const auto y = floats(model.run({{"x", x}}).get(), "y");
    const auto expected = floats(plain.run({{"x", x}, {"k", k}}).get(), "y");
    ASSERT_EQ(y.size(), expected.size());
    for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], 1e-4) << i;
    EXPECT_EQ(model.stats().weight_bytes, weights.size() * sizeof(float));
  }
}

TEST_F(Plans, weights_of_integer_convolutions_are_put_into_blocks_once_for_all_plans) {
  const std::vector<std::int64_t> extents{32, 48, 3, 3};
  const std::size_t count = 32 * 48 * 9;
  for (const ElementType type : {ElementType::s8, ElementType::u8}) {
    TensorData data{.type = type, .dims = extents, .bytes = {}, .strings = {}};
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(i * 53 % 251));
    data.bytes = SharedBytes::own(std::move(bytes));
    const auto convolution = [&](bool constant) {
      GraphBuilder graph;
      graph.input("x", {1, 48, "h", "w"}, ElementType::u8).input("z", {}, ElementType::u8);
      if (constant)
        graph.constant("k", data);
      else
        graph.input("k", {32, 48, 3, 3}, type);
      return graph
          .node("ConvInteger", {"x", "k", "z"}, {"y"},
                {named("pads", std::vector<std::int64_t>{1, 1, 1, 1})})
          .output("y")
          .load(here());
    };
    const Model model = convolution(true), plain = convolution(false);
    const Tensor k = Known{data}.tensor();
    const Tensor z = as_type(tensor({131.0}), DType::u8);
    for (const std::int64_t side : {5, 9, 5}) {
      const Tensor x = as_type(
          reshape(iota({48 * side * side}, DType::s32) * 37 % 256, {1, 48, side, side}), DType::u8);
      const NamedValues inputs{{"x", x}, {"z", reshape(z, Shape{})}};
      NamedValues with_weights = inputs;
      with_weights.emplace("k", Value{k, type});
      EXPECT_EQ(whole(model.run(inputs).get(), "y"), whole(plain.run(with_weights).get(), "y"));
      EXPECT_EQ(model.stats().weight_bytes, count);
    }
  }
}

TEST_F(Plans, a_run_that_was_traced_before_gives_its_outputs_at_once) {
  const Model model = rows_of_three(here());
  model.warm_up({{"x", ones({3})}});
  EXPECT_TRUE(model.run({{"x", ones({3})}}).ready());
}

TEST_F(Plans, a_cut_reads_a_count_and_goes_on_with_the_plan_for_it) {
  const Model model = positives(here());
  const auto run = [&](const std::vector<float>& x) {
    return floats(model.run({{"x", tensor(x)}}).get(), "y");
  };
  EXPECT_EQ(run({1, -1, 2, -3}), (std::vector<float>{2, 4}));
  EXPECT_EQ(run({-1, 5, -2, 7}), (std::vector<float>{10, 14}));
  EXPECT_EQ(run({1, 2, 3, -1}), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(run({-1, -1, -1, -1}), std::vector<float>{});
  // One segment up to the count, and one behind it for each of 2, 3 and 0.
  EXPECT_EQ(model.stats().traced, 4U);
  EXPECT_EQ(model.stats().cuts, 4U);
}

TEST_F(Plans, the_call_goes_on_behind_a_cut_whose_elements_are_there) {
  const Model model = positives(here());
  const Tensor x = tensor({1.0F, -1.0F, 2.0F}).eval();
  bool at_once = false;
  // Not if the device has just been busy with the run before.
  for (int i = 0; i < 1000 && !at_once; ++i) {
    const Future<NamedValues> run = model.run({{"x", x}});
    at_once = run.ready();
    EXPECT_EQ(floats(run.get(), "y"), (std::vector<float>{2, 4}));
  }
  EXPECT_TRUE(at_once);
}

TEST_F(Plans, the_least_recently_used_plan_makes_room) {
  LoadOptions options = here();
  options.max_plans = 2;
  const Model model = rows_of_three(options);
  for (const std::int64_t n : {3, 6, 3, 9, 3}) model.warm_up({{"x", ones({n})}});
  EXPECT_EQ(model.stats().segments, 2U);
  EXPECT_EQ(model.stats().dropped, 1U);
  EXPECT_EQ(model.stats().traced, 3U);
}

TEST_F(Plans, a_model_with_more_cuts_than_plans_still_runs) {
  LoadOptions options = here();
  options.max_plans = 1;
  const Model model = positives(options);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(floats(model.run({{"x", tensor({-1.0, 4.0})}}).get(), "y"), (std::vector<float>{8}));
  EXPECT_LE(model.stats().segments, 1U);
}

TEST_F(Plans, many_runs_at_once_share_a_model) {
  const Model model = positives(here());
  std::vector<Future<NamedValues>> runs;
  for (int i = 0; i < 32; ++i)
    runs.push_back(model.run({{"x", tensor({i % 2 == 0 ? -1.0F : 1.0F, 2.0F, float(i)})}}));
  for (int i = 0; i < 32; ++i) {
    std::vector<float> expected;
    if (i % 2 == 1) expected.push_back(2);
    expected.push_back(4);
    if (i > 0) expected.push_back(2 * float(i));
    EXPECT_EQ(floats(runs[static_cast<std::size_t>(i)].get(), "y"), expected) << i;
  }
}

TEST_F(Plans, an_input_that_decides_about_shapes_is_a_part_of_the_signature) {
  const Model model = GraphBuilder{}
                          .input("x", {4})
                          .input("shape", {2}, ElementType::s64)
                          .node("Reshape", {"x", "shape"}, {"y"})
                          .output("y")
                          .load(here());
  const auto shape_for = [&](std::int64_t a, std::int64_t b) {
    return model.run({{"x", ones({4})}, {"shape", tensor(std::vector{a, b})}})
        .get()
        .at("y")
        .shape();
  };
  EXPECT_EQ(shape_for(2, 2), (Shape{2, 2}));
  EXPECT_EQ(shape_for(4, 1), (Shape{4, 1}));
  EXPECT_EQ(model.stats().cuts, 0U);
}

TEST_F(Plans, elements_of_a_list_are_no_part_of_the_signature) {
  GraphBuilder builder;
  builder.graph.inputs.push_back({.name = "list", .type = {}, .doc = {}});
  builder.node("ConcatFromSequence", {"list"}, {"y"}, {named("axis", std::int64_t{0})}).output("y");
  const Model model = builder.load(here());
  for (const double number : {1.0, 2.0, 3.0}) {
    const std::vector<double> numbers{number, -number};
    const Value known = Known::reals(numbers, Shape{2});
    const NamedValues out = model.run({{"list", Value::sequence({known, known})}}).get();
    const auto x = static_cast<float>(number);
    EXPECT_EQ(floats(out, "y"), (std::vector<float>{x, -x, x, -x}));
  }
  EXPECT_EQ(model.stats().traced, 1U);
}

TEST_F(Plans, what_stands_on_constants_only_is_computed_once_for_all_plans) {
  int calls = 0;
  OperatorTable table = OperatorTable::standard();
  table.add({.name = "Counted", .domain = "test", .lower = [&calls](Call& call) {
               ++calls;
               return Values{call.like(call.x() * 2)};
             }});
  GraphBuilder builder;
  builder.input("x", {"n"})
      .constant("w", reals({1, 2}))
      .node("Counted", {"w"}, {"twice"}, {}, "test")
      .node("ReduceSum", {"twice"}, {"sum"})
      .node("Mul", {"x", "sum"}, {"y"})
      .output("y");
  LoadOptions options = here();
  options.operators = &table;
  const Model model = builder.load(options);
  for (const std::int64_t n : {1, 2, 3})
    EXPECT_EQ(floats(model.run({{"x", ones({n})}}).get(), "y")[0], 6);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace stoker::onnx
