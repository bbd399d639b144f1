// What bounds the plans of a model: bytes, and that only warm_up() and runs that say so make them.
#include <atomic>
#include <limits>
#include <thread>

#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

class PlanBounds : public OnnxTest {
 protected:
  [[nodiscard]] LoadOptions refusing() const {
    return {.device = device_, .on_new_shape = NewShape::refuse};
  }
  /// sum = x + x, and difference = x - x.
  [[nodiscard]] static Model sum_and_difference(const LoadOptions& options) {
    return GraphBuilder{}
        .input("x", {"n", "m"})
        .node("Add", {"x", "x"}, {"sum"})
        .node("Sub", {"x", "x"}, {"difference"})
        .output("sum")
        .output("difference")
        .load(options);
  }
  /// The positives of x.
  [[nodiscard]] static Model positives(const LoadOptions& options) {
    return GraphBuilder{}
        .input("x", {"n"})
        .constant("zero", reals({0}))
        .node("Greater", {"x", "zero"}, {"is_positive"})
        .node("Compress", {"x", "is_positive"}, {"y"})
        .output("y")
        .load(options);
  }
  /// `twos`: as many as there are in x, which the plan holds; y = x + twos.
  [[nodiscard]] static Model plus_twos(const LoadOptions& options) {
    TensorData two = reals({2});
    return GraphBuilder{}
        .input("x", {"n"})
        .node("Shape", {"x"}, {"extents"})
        .node("ConstantOfShape", {"extents"}, {"twos"}, {named("value", two)})
        .node("Add", {"x", "twos"}, {"y"})
        .output("y")
        .output("twos")
        .load(options);
  }
  /// y = twos * (the sum of what is larger than 2 in x): the plans before and behind the cut hold the twos.
  [[nodiscard]] static Model twos_around_a_cut(const LoadOptions& options) {
    TensorData two = reals({2});
    return GraphBuilder{}
        .input("x", {"n"})
        .node("Shape", {"x"}, {"extents"})
        .node("ConstantOfShape", {"extents"}, {"twos"}, {named("value", two)})
        .node("Greater", {"x", "twos"}, {"large"})
        .node("Compress", {"x", "large"}, {"some"})
        .node("ReduceSum", {"some"}, {"sum"})
        .node("Mul", {"twos", "sum"}, {"y"})
        .output("y")
        .load(options);
  }
  static std::vector<float> run_plus_twos(const Model& model, std::int64_t n) {
    return floats(model.run({{"x", ones({n})}}).get(), "y");
  }
};

TEST_F(PlanBounds, a_shape_that_was_not_warmed_up_is_refused_at_the_call) {
  const Model model = sum_and_difference(refusing());
  const Error none = refusal([&] { static_cast<void>(model.run({{"x", ones({2, 3})}})); });
  EXPECT_EQ(none.code(), ErrorCode::not_found);
  EXPECT_EQ(none.detail("plans"), "0");
  for (const std::int64_t m : {3, 100, 4000}) model.warm_up({{"x", ones({2, m})}});
  EXPECT_EQ(floats(model.run({{"x", ones({2, 3})}}).get(), "sum"), std::vector<float>(6, 2));
  const Error why = refusal([&] { static_cast<void>(model.run({{"x", ones({2, 80})}})); });
  EXPECT_EQ(why.code(), ErrorCode::not_found);
  EXPECT_EQ(why.detail("came"), "x float[2,80]");
  EXPECT_EQ(why.detail("expected"), "x float[2,100]");
  EXPECT_EQ(why.detail("plans"), "3");
  EXPECT_NE(std::string{why.what()}.find("the nearest is for x float[2,100]"), std::string::npos);
  EXPECT_EQ(model.stats().traced, 3U);
  EXPECT_EQ(model.stats().segments, 3U);
}

TEST_F(PlanBounds, a_run_may_make_a_plan_or_refuse_to_where_its_model_does_not) {
  const NamedValues x{{"x", ones({2, 3})}};
  const Model refuses = sum_and_difference(refusing());
  EXPECT_EQ(floats(refuses.run(x, {.on_new_shape = NewShape::trace}).get(), "sum"),
            std::vector<float>(6, 2));
  EXPECT_EQ(floats(refuses.run(x).get(), "sum"), std::vector<float>(6, 2));
  const Model traces = sum_and_difference({.device = device_});
  EXPECT_EQ(
      refusal([&] { static_cast<void>(traces.run(x, {.on_new_shape = NewShape::refuse})); }).code(),
      ErrorCode::not_found);
  EXPECT_EQ(floats(traces.run(x).get(), "sum"), std::vector<float>(6, 2));
}

TEST_F(PlanBounds, outputs_are_warmed_up_for_themselves) {
  const Model model = sum_and_difference(refusing());
  const NamedValues x{{"x", ones({1, 2})}};
  model.warm_up(x, {.outputs = {"difference"}});
  EXPECT_EQ(floats(model.run(x, {.outputs = {"difference"}}).get(), "difference"),
            (std::vector<float>{0, 0}));
  const Error why = refusal([&] { static_cast<void>(model.run(x)); });
  EXPECT_EQ(why.detail("came"), "x float[1,2]");
  EXPECT_EQ(why.detail("expected"), "x float[1,2] and the outputs difference");
}

TEST_F(PlanBounds, elements_that_decide_about_shapes_are_told) {
  const Model model =
      GraphBuilder{}
          .input("most", {}, ElementType::s64)
          .constant(
              "zero",
              {.type = ElementType::s64, .dims = {}, .bytes = integers({0}).bytes, .strings = {}})
          .constant(
              "one",
              {.type = ElementType::s64, .dims = {}, .bytes = integers({1}).bytes, .strings = {}})
          .node("Range", {"zero", "most", "one"}, {"y"})
          .output("y")
          .load(refusing());
  const auto given = [](std::int64_t most) {
    return NamedValues{{"most", full({}, most, DType::s64)}};
  };
  for (const std::int64_t most : {3, 9}) model.warm_up(given(most));
  EXPECT_EQ(whole(model.run(given(3)).get(), "y"), (std::vector<std::int64_t>{0, 1, 2}));
  const Error why = refusal([&] { static_cast<void>(model.run(given(8)).get()); });
  EXPECT_EQ(why.code(), ErrorCode::not_found);
  EXPECT_EQ(why.detail("came"), "most int64[] = 8");
  EXPECT_EQ(why.detail("expected"), "most int64[] = 9");
}

TEST_F(PlanBounds, the_largest_integers_are_told_as_they_are) {
  const Model model = GraphBuilder{}
                          .input("x", {"n"})
                          .input("starts", {1}, ElementType::s64)
                          .input("ends", {1}, ElementType::s64)
                          .node("Slice", {"x", "starts", "ends"}, {"y"})
                          .output("y")
                          .load(refusing());
  const auto given = [](std::int64_t start) {
    return NamedValues{{"x", ones({4})},
                       {"starts", full({1}, start, DType::s64)},
                       {"ends", full({1}, std::numeric_limits<std::int64_t>::max(), DType::s64)}};
  };
  model.warm_up(given(0));
  const Error why = refusal([&] { static_cast<void>(model.run(given(1)).get()); });
  EXPECT_EQ(why.detail("came"),
            "x float[4], starts int64[1] = 1, ends int64[1] = 9223372036854775807");
}

TEST_F(PlanBounds, texts_lists_and_maps_are_told_with_what_tells_them_apart) {
  const Model model =
      GraphBuilder{}
          .input("s", {"n"}, ElementType::string)
          .node("StringSplit", {"s"}, {"parts", "counts"}, {named("delimiter", std::string{" "})})
          .output("counts")
          .load(refusing());
  const auto given = [](const char* second) {
    return NamedValues{{"s", Value{Texts{Shape{2}, {"a b", second}}}}};
  };
  model.warm_up({{"s", Value{Texts{Shape{2}, {"x", "y z"}}}}});
  model.warm_up(given("c"));
  const Error why = refusal([&] { static_cast<void>(model.run(given("d\n"))); });
  EXPECT_EQ(why.detail("came"), "s string[2] = 'a b' 'd\n'");
  EXPECT_EQ(why.detail("expected"), "s string[2] = 'a b' 'c'");

  GraphBuilder joined;
  joined.graph.inputs.push_back({.name = "list", .type = {}, .doc = {}});
  joined.node("ConcatFromSequence", {"list"}, {"y"}, {named("axis", std::int64_t{0})}).output("y");
  const Model of_lists = joined.load(refusing());
  const auto list = [](std::int64_t n) {
    return NamedValues{{"list", Value::sequence({Value{zeros({n})}})}};
  };
  for (const std::int64_t n : {2, 200}) of_lists.warm_up(list(n));
  const Error of_list = refusal([&] { static_cast<void>(of_lists.run(list(190))); });
  EXPECT_EQ(of_list.detail("came"), "list a sequence of 1 (float[190])");
  EXPECT_EQ(of_list.detail("expected"), "list a sequence of 1 (float[200])");
}

TEST_F(PlanBounds, what_is_read_at_a_cut_is_refused_in_the_future) {
  const Model model = positives(refusing());
  model.warm_up({{"x", tensor({1.0, -1.0, 2.0, -2.0})}});
  const auto of = [&](const Tensor& x) { return floats(model.run({{"x", x}}).get(), "y"); };
  EXPECT_EQ(of(tensor({-1.0, 3.0, -2.0, 4.0})), (std::vector<float>{3, 4}));
  const std::uint64_t traced = model.stats().traced;
  const Future<NamedValues> run = model.run({{"x", tensor({1.0, 2.0, 3.0, -4.0})}});
  const Error why = refusal([&] { static_cast<void>(run.get()); });
  EXPECT_EQ(why.code(), ErrorCode::not_found);
  EXPECT_NE(why.detail("came").find("Compress"), std::string::npos) << why.what();
  EXPECT_TRUE(why.detail("came").ends_with("reads: 3")) << why.what();
  EXPECT_EQ(why.detail("expected"), "2");
  EXPECT_EQ(model.stats().traced, traced);
  model.warm_up({{"x", tensor({1.0, 2.0, 3.0, -4.0})}});
  EXPECT_EQ(of(tensor({4.0, -1.0, 5.0, 6.0})), (std::vector<float>{4, 5, 6}));
}

TEST_F(PlanBounds, a_plan_that_made_room_is_refused) {
  LoadOptions options = refusing();
  options.max_plans = 1;
  const Model model = sum_and_difference(options);
  const NamedValues one{{"x", ones({1, 1})}}, two{{"x", ones({2, 2})}};
  model.warm_up(one);
  model.warm_up(two);
  EXPECT_EQ(refusal([&] { static_cast<void>(model.run(one)); }).detail("expected"), "x float[2,2]");
  model.warm_up(one);
  EXPECT_EQ(floats(model.run(one).get(), "sum"), std::vector<float>{2});
}

TEST_F(PlanBounds, constants_that_only_a_plan_holds_are_counted_once) {
  const Model model = plus_twos(here());
  EXPECT_EQ(run_plus_twos(model, 3), std::vector<float>(3, 3));
  EXPECT_EQ(model.stats().plan_bytes, 3 * sizeof(float)) << "read by the program, and an output";
  EXPECT_EQ(model.stats().weight_bytes, 0U);
  EXPECT_EQ(run_plus_twos(model, 5), std::vector<float>(5, 3));
  EXPECT_EQ(model.stats().plan_bytes, 8 * sizeof(float));
}

TEST_F(PlanBounds, a_constant_before_and_behind_a_cut_is_counted_once) {
  const Model model = twos_around_a_cut(here());
  const NamedValues x{{"x", tensor({1.0, 3.0, 4.0})}};
  EXPECT_EQ(floats(model.run(x).get(), "y"), std::vector<float>(3, 14));
  std::uint64_t working = 0;
  const PlanDescription plan = model.plan(x);
  ASSERT_EQ(plan.segments.size(), 2U);
  for (const auto& segment : plan.segments) {
    EXPECT_GE(segment.constant_bytes, 3 * sizeof(float)) << "it reads the twos";
    working += segment.working_bytes;
  }
  EXPECT_EQ(model.stats().plan_bytes, working + 3 * sizeof(float));
}

TEST_F(PlanBounds, what_plans_take_is_enough_to_keep_them) {
  const NamedValues x{{"x", tensor({1.0, 3.0, 4.0})}};
  const Model unbounded = twos_around_a_cut(here());
  unbounded.warm_up(x);
  LoadOptions options = refusing();
  options.max_plan_bytes = unbounded.stats().plan_bytes;
  const Model model = twos_around_a_cut(options);
  model.warm_up(x);
  EXPECT_EQ(floats(model.run(x).get(), "y"), std::vector<float>(3, 14));
  EXPECT_EQ(model.stats().plan_bytes, options.max_plan_bytes);
}

TEST_F(PlanBounds, the_least_recently_used_plans_make_room_for_bytes) {
  LoadOptions options = here();
  options.max_plan_bytes = 10 * sizeof(float);
  const Model model = plus_twos(options);
  for (const std::int64_t n : {4, 5, 4}) run_plus_twos(model, n);
  EXPECT_EQ(model.stats().plan_bytes, 9 * sizeof(float));
  EXPECT_EQ(run_plus_twos(model, 6), std::vector<float>(6, 3));
  EXPECT_EQ(model.stats().plan_bytes, 10 * sizeof(float)) << "five made room for six";
  EXPECT_EQ(model.stats().dropped, 1U);
  EXPECT_EQ(run_plus_twos(model, 7), std::vector<float>(7, 3));
  EXPECT_EQ(model.stats().plan_bytes, 7 * sizeof(float));
  EXPECT_EQ(model.stats().segments, 1U);
}

TEST_F(PlanBounds, a_plan_that_takes_too_much_by_itself_is_not_kept) {
  LoadOptions options = here();
  options.max_plan_bytes = 10 * sizeof(float);
  const Model model = plus_twos(options);
  run_plus_twos(model, 8);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run_plus_twos(model, 11), std::vector<float>(11, 3));
  EXPECT_EQ(model.stats().traced, 3U);
  EXPECT_EQ(model.stats().segments, 1U) << "the smaller one stays";
  EXPECT_EQ(model.stats().plan_bytes, 8 * sizeof(float));
}

TEST_F(PlanBounds, hold_while_threads_run_and_warm_up) {
  LoadOptions options = here();
  options.max_plans = 6;
  options.max_plan_bytes = 12 * sizeof(float);
  const Model model = plus_twos(options);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (std::int64_t thread = 0; thread < 8; ++thread)
      threads.emplace_back([&, thread] {
        const DeviceScope scope{device_};
        for (std::int64_t i = 0; i < 40; ++i) {
          const std::int64_t n = 1 + (thread + 3 * i) % 7;
          if (thread == 0) model.warm_up({{"x", ones({n})}});
          if (run_plus_twos(model, n) != std::vector<float>(static_cast<std::size_t>(n), 3))
            ++wrong;
        }
      });
  }
  EXPECT_EQ(wrong, 0);
  const ModelStats stats = model.stats();
  EXPECT_LE(stats.segments, 6U);
  EXPECT_LE(stats.plan_bytes, options.max_plan_bytes);
  EXPECT_GT(stats.dropped, 0U);
  // One plan takes all that there is: what others took was given back.
  EXPECT_EQ(run_plus_twos(model, 12), std::vector<float>(12, 3));
  EXPECT_EQ(model.stats().segments, 1U);
  EXPECT_EQ(model.stats().plan_bytes, options.max_plan_bytes);
}

}  // namespace
}  // namespace stoker::onnx
