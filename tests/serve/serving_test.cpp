// Servings of real models on the CPU: which requests join, and that each caller gets what a direct run gives.
#include "stoker/api/serve.hpp"

#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cmath>
#include <random>
#include <thread>

#include "stoker/api/actors.hpp"
#include "stoker/api/serve_async.hpp"
#include "stoker/tests/model/model_folder.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;

/// An ONNX model of nodes from x float[dims] to y; a dimension below 0 is free, named "n1" for -1.
std::string onnx_of(const onnx::Nodes& nodes, const std::vector<std::int64_t>& dims) {
  std::vector<onnx::Message> extents;
  extents.reserve(dims.size());
  for (const std::int64_t extent : dims)
    extents.push_back(extent < 0 ? onnx::Message{}.text(2, "n" + std::to_string(-extent))
                                 : onnx::Message{}.integer(1, extent));
  onnx::Message graph;
  graph.messages(1, nodes.all);
  graph.message(11, onnx::value_info("x", onnx::tensor_type(onnx::ElementType::f32, extents)));
  graph.message(12, onnx::value_info("y", onnx::Message{}));
  return onnx::model(graph).bytes();
}

/// y = x + the mean of all rows.
onnx::Nodes plus_mean() {
  const onnx::Message axes = onnx::Message{}.text(1, "axes").integer(8, 0).integer(20, 7);
  return onnx::node("ReduceMean", {"x"}, {"mean"}, {axes}).add("Add", {"x", "mean"}, {"y"});
}

class ServedModels : public testing::Test {
 protected:
  [[nodiscard]] AnyModel load(const std::filesystem::path& path) const {
    return load_model(path, {.device = device});
  }
  [[nodiscard]] AnyModel load_onnx(const onnx::Nodes& nodes,
                                   const std::vector<std::int64_t>& dims) const {
    return load(folder.write("model.onnx", onnx_of(nodes, dims)));
  }
  [[nodiscard]] Serving serve(const AnyModel& model, const ServingOptions& options = {}) const {
    return start_serving(system.supervisor(), model, options);
  }
  static std::vector<float> floats(const NamedValues& values, const std::string& name) {
    return values.at(name).tensor().to_vector<float>();
  }

  System system;
  Device device = system.device("cpu");
  DeviceScope scope{device};
  ModelFolder folder;
};

TEST_F(ServedModels, join_if_their_rows_do_not_touch_each_other) {
  EXPECT_EQ(serve(load(folder.save_line("line.safetensors", device))).status().get().reason, "");
  const AnyModel relu = load_onnx(onnx::node("Relu", {"x"}, {"y"}), {-1, 3});
  EXPECT_TRUE(serve(relu, {.name = "relu"}).status().get().joins);
}

TEST_F(ServedModels, run_one_at_a_time_if_rows_touch_each_other) {
  const onnx::Message axis = onnx::Message{}.text(1, "axis").integer(3, 0).integer(20, 2);
  const AnyModel model = load_onnx(onnx::node("Softmax", {"x"}, {"y"}, {axis}), {-1, 3});
  const ServingStatus status = serve(model).status().get();
  EXPECT_FALSE(status.joins);
  EXPECT_NE(status.reason.find("rows of output 'y' depend"), std::string::npos) << status.reason;
}

TEST_F(ServedModels, run_one_at_a_time_if_each_row_gets_something_of_the_others) {
  const AnyModel model = load_onnx(plus_mean(), {-1, 3});
  EXPECT_FALSE(serve(model).status().get().joins);
  const AnyModel narrow = load_onnx(plus_mean(), {-1});
  EXPECT_FALSE(serve(narrow, {.name = "narrow"}).status().get().joins);
}

TEST_F(ServedModels, are_checked_with_rows_that_differ_whatever_the_sample_has) {
  const AnyModel model = load_onnx(plus_mean(), {-1, -2});
  int started = 0;
  const auto reason = [&](const Tensor& sample) {
    const std::string name = "serving " + std::to_string(++started);
    return serve(model, {.name = name, .sample = {{"x", sample}}}).status().get().reason;
  };
  const std::string depend = "rows of output 'y' depend on the rows beside them, or on chance";
  EXPECT_EQ(reason(tensor({{1.0, 2.0}})), depend);
  EXPECT_EQ(reason(tensor({{1.0, 2.0}, {1.0, 2.0}})), depend);
  EXPECT_EQ(reason(tensor({{1.0, 2.0}, {3.0, 4.0}, {1.0, 2.0}})), depend);
  EXPECT_EQ(reason(tensor({{0.5, 0.5}})), "the sample has no two rows that differ");
}

TEST_F(ServedModels, run_one_at_a_time_if_an_input_has_the_free_dimension_twice) {
  const AnyModel model = load_onnx(onnx::node("Relu", {"x"}, {"y"}), {-1, -1});
  const NamedValues sample{{"x", tensor({{1.0, 2.0}, {3.0, 4.0}})}};
  const Serving serving = serve(model, {.sample = sample});
  EXPECT_EQ(serving.status().get().reason, "input 'x' has dimension 'n1' twice");
  EXPECT_EQ(floats(serving.run(sample).get(), "y"), (std::vector{1.0F, 2.0F, 3.0F, 4.0F}));
}

TEST_F(ServedModels, run_one_at_a_time_if_an_output_has_no_rows) {
  const ServingStatus status = serve(load(folder.write_script("product.lua"))).status().get();
  EXPECT_FALSE(status.joins);
  EXPECT_EQ(status.reason, "output 'total' does not have as many rows as the inputs");
}

TEST_F(ServedModels, run_one_at_a_time_if_their_plan_is_cut) {
  const AnyModel model = load_onnx(onnx::node("NonZero", {"x"}, {"y"}), {-1, 3});
  const Serving serving = serve(model);
  EXPECT_EQ(serving.status().get().reason, "its plan is cut where shapes depend on values");
  const NamedValues out = serving.run({{"x", tensor({{0.0, 1.0, 0.0}})}}).get();
  EXPECT_EQ(out.at("y").tensor().to_vector<int>(), (std::vector{0, 1}));
}

TEST_F(ServedModels, run_one_at_a_time_if_no_dimension_is_free) {
  const Serving serving = serve(load(folder.write_onnx("abs.onnx")));
  EXPECT_EQ(serving.status().get().reason, "input 'x' has no free first dimension");
  EXPECT_EQ(floats(serving.run({{"x", tensor({1.0, -2.0})}}).get(), "y"),
            (std::vector{1.0F, 2.0F}));
}

TEST_F(ServedModels, need_a_sample_if_another_dimension_is_free) {
  const AnyModel model = load_onnx(onnx::node("Neg", {"x"}, {"y"}), {-1, -2});
  EXPECT_NE(serve(model).status().get().reason.find("'x' has another free dimension"),
            std::string::npos);
  const NamedValues sample{{"x", tensor({{1.0, 2.0}})}};
  EXPECT_TRUE(serve(model, {.name = "with a sample", .sample = sample}).status().get().joins);
}

/// y = 2 x0 + 3 x1 + 1 after `shift` was added to x, which requests may omit.
AnyModel with_optional_shift(const ModelFolder& folder, const Device& device) {
  const nn::Node x = nn::input("x", {2});
  const nn::Node shift = nn::optional_input("shift", {2});
  nn::Model model{nn::Network{nn::dense(nn::or_else(x + shift, x), 1, {.name = "y"})},
                  {.device = device}};
  model.merge_variables({{"y.kernel", tensor({{2.0}, {3.0}})}, {"y.bias", tensor({1.0})}});
  const std::filesystem::path path = folder.path / "shifted.safetensors";
  model.save(path);
  return load_model(path, {.device = device});
}

TEST_F(ServedModels, join_requests_that_omit_an_input_among_themselves) {
  const Serving serving = serve(with_optional_shift(folder, device),
                                {.batch_size = 4, .batch_timeout = 1h, .wait = BatchWait::full});
  const Tensor x = tensor({{1.0, 2.0}});
  std::vector<Future<NamedValues>> answers;
  answers.reserve(8);
  for (int i = 0; i < 4; ++i) {
    answers.push_back(serving.run({{"x", x}}));
    answers.push_back(serving.run({{"x", x}, {"shift", tensor({{0.0, 1.0}})}}));
  }
  for (std::size_t i = 0; i < answers.size(); i += 2) {
    EXPECT_EQ(floats(answers[i].get(), "y"), std::vector{9.0F});
    EXPECT_EQ(floats(answers[i + 1].get(), "y"), std::vector{12.0F});
  }
  EXPECT_EQ(serving.status().get().totals.batches, 2U);
}

TEST_F(ServedModels, run_requests_apart_that_give_inputs_beside_those_of_the_sample) {
  const Serving serving = serve(with_optional_shift(folder, device),
                                {.batch_size = 4,
                                 .batch_timeout = 1h,
                                 .wait = BatchWait::full,
                                 .sizes = {4},
                                 .sample = {{"x", tensor({{1.0, 2.0}, {3.0, 4.0}})}}});
  const auto apart = serving.run(
      {{"x", tensor({{1.0, 2.0}, {3.0, 4.0}})}, {"shift", tensor({{0.0, 1.0}, {1.0, 0.0}})}});
  EXPECT_EQ(floats(apart.get(), "y"), (std::vector{12.0F, 21.0F})) << "it waits for no others";
  EXPECT_EQ(serving.status().get().totals.padding, 0U);
}

TEST_F(ServedModels, make_plans_for_their_sizes_when_they_start) {
  const auto refusing = [&](const std::string& name) {
    return load_model(folder.write(name, onnx_of(onnx::node("Relu", {"x"}, {"y"}), {-1, 2})),
                      {.device = device, .on_new_shape = onnx::NewShape::refuse});
  };
  const auto ask = [](const Serving& serving, std::int64_t rows) {
    return serving.run({{"x", full({rows, 2}, 1.0)}}).wait();
  };
  const AnyModel model = refusing("a.onnx");
  const Serving padded = serve(model, {.batch_size = 8, .sizes = {4}});
  EXPECT_TRUE(padded.status().get().joins) << "its check makes plans, too";
  for (std::int64_t rows = 1; rows <= 8; ++rows) EXPECT_TRUE(ask(padded, rows)) << rows;
  EXPECT_TRUE(ask(padded, 21)) << "three batches";

  const Serving unpadded = serve(refusing("b.onnx"), {.name = "unpadded", .batch_size = 8});
  EXPECT_TRUE(ask(unpadded, 3)) << "the check has had so many rows";
  const Result<NamedValues> refused = ask(unpadded, 5);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::not_found);

  const Serving whole =
      serve(refusing("c.onnx"), {.name = "whole", .batch_size = 8, .warm_up = WarmUp::all});
  EXPECT_TRUE(ask(whole, 8));
  const Serving checked =
      serve(refusing("d.onnx"),
            {.name = "checked", .batch_size = 8, .sizes = {4}, .warm_up = WarmUp::checks});
  EXPECT_FALSE(ask(checked, 4));
}

TEST_F(ServedModels, refuse_a_sample_that_the_model_does_not_take) {
  const AnyModel model = load(folder.save_line("line.safetensors", device));
  EXPECT_EQ(refusal_of([&] {
              static_cast<void>(serve(model, {.sample = {{"rows", tensor({{1.0}})}}}));
            }).code(),
            ErrorCode::shape_mismatch);
}

TEST_F(ServedModels, have_a_name_of_their_own) {
  const AnyModel model = load(folder.save_line("line.safetensors", device));
  const Serving first = serve(model);
  EXPECT_EQ(refusal_of([&] { static_cast<void>(serve(model)); }).code(), ErrorCode::already_exists);
  first.stop().get();
  EXPECT_TRUE(serve(model).run({{"rows", tensor({{1.0, 2.0}})}}).wait()) << "it is free again";
}

/// Many threads ask for a while; each answer must be that of a direct run.
void ask_from_threads(const Serving& serving, const AnyModel& model, const std::string& input,
                      const Device& device, std::int64_t width) {
  std::atomic<int> wrong{0};
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      const DeviceScope scope{device};
      std::mt19937 random{t};
      for (int n = 0; n < 40; ++n) {
        const auto rows = static_cast<std::int64_t>(1 + random() % 7);
        std::vector<float> numbers(static_cast<std::size_t>(rows * width));
        for (float& number : numbers) number = static_cast<float>(random() % 1000) / 500 - 1;
        const NamedValues given{{input, tensor(numbers, Shape{rows, width})}};
        const NamedValues expected = model.predict(given).get();
        const NamedValues served = serving.run(given).get();
        for (const auto& [name, value] : expected) {
          const auto a = value.tensor().to_vector<float>();
          const auto b = served.at(name).tensor().to_vector<float>();
          bool same = served.at(name).tensor().shape() == value.tensor().shape();
          for (std::size_t i = 0; same && i < a.size(); ++i)
            same = std::abs(a[i] - b[i]) <= 1e-5F * (1 + std::abs(a[i]));
          wrong += !same;
        }
      }
    });
  threads.clear();
  EXPECT_EQ(wrong, 0);
  const ServingStatus status = serving.status().get();
  EXPECT_EQ(status.totals.answered, 320U);
  EXPECT_EQ(status.totals.accepted, 320U);
}

TEST_F(ServedModels, give_each_of_many_threads_what_a_direct_run_gives) {
  const AnyModel line = load(folder.save_line("line.safetensors", device));
  ask_from_threads(serve(line, {.batch_size = 8, .workers = 2}), line, "rows", device, 2);
  const AnyModel soft = load_onnx(onnx::node("Softmax", {"x"}, {"y"}), {-1, 5});
  ask_from_threads(serve(soft, {.name = "padded", .batch_size = 16, .sizes = {4, 8}}), soft, "x",
                   device, 5);
  ask_from_threads(serve(soft, {.name = "split", .batch_size = 2}), soft, "x", device, 5);
}

TEST_F(ServedModels, join_along_an_axis_that_is_not_the_first) {
  const AnyModel model = load(folder.write("turned.lua", R"(
    return {inputs = {{name = "x", shape = {"rows", 2}}, {name = "state", shape = {3, "rows"}}},
            outputs = {"y", "next"},
            predict = function(given)
              return {y = given.x * 2, next = given.state + 1}
            end})"));
  const Serving serving =
      serve(model, {.batch_size = 4, .batch_timeout = 10s, .wait = BatchWait::full});
  ASSERT_EQ(serving.status().get().reason, "");
  const auto ask = [&](float number, std::int64_t rows) {
    const Tensor state = reshape(iota(Shape{3 * rows}, DType::f32), {3, rows}) * number;
    return std::pair{state + 1, serving.run({{"x", full(Shape{rows, 2}, number, DType::f32)},
                                             {"state", state}})};
  };
  const auto [first_expected, first] = ask(10, 1);
  const auto [second_expected, second] = ask(100, 3);
  EXPECT_EQ(floats(first.get(), "next"), first_expected.to_vector<float>());
  EXPECT_EQ(floats(second.get(), "next"), second_expected.to_vector<float>());
  EXPECT_EQ(serving.status().get().totals.batches, 1U);
}

TEST_F(ServedModels, join_rows_of_any_element_type) {
  using onnx::ElementType;
  const auto rows_of = [](ElementType type, const std::vector<std::int64_t>& others) {
    std::vector<onnx::Message> extents{onnx::Message{}.text(2, "rows")};
    for (const std::int64_t extent : others) extents.push_back(onnx::Message{}.integer(1, extent));
    return onnx::tensor_type(type, extents);
  };
  onnx::Message graph;
  graph.messages(1, onnx::node("Neg", {"half"}, {"a"})
                        .add("Not", {"truth"}, {"b"})
                        .add("Neg", {"whole"}, {"c"})
                        .all);
  graph.message(11, onnx::value_info("half", rows_of(ElementType::f16, {3})));
  graph.message(11, onnx::value_info("truth", rows_of(ElementType::boolean, {2, 0})));
  graph.message(11, onnx::value_info("whole", rows_of(ElementType::s64, {})));
  for (const char* name : {"a", "b", "c"})
    graph.message(12, onnx::value_info(name, onnx::Message{}));
  const Serving serving = serve(load(folder.write("types.onnx", onnx::model(graph).bytes())),
                                {.batch_size = 3, .batch_timeout = 10s, .wait = BatchWait::full});
  ASSERT_EQ(serving.status().get().reason, "");
  const auto ask = [&](std::int64_t rows, double number, const onnx::Value& whole) {
    const onnx::Value truth{full(Shape{rows, 2, 0}, 0, DType::u8), ElementType::boolean};
    return serving.run(
        {{"half", full(Shape{rows, 3}, number, DType::f16)}, {"truth", truth}, {"whole", whole}});
  };
  const auto first = ask(2, 0.5, onnx::Known::integers(std::vector<std::int64_t>{1LL << 60, 7}));
  const auto second = ask(1, 1.5, full(Shape{1}, -3, DType::s64));
  EXPECT_EQ(floats(first.get(), "a"), std::vector<float>(6, -0.5F));
  EXPECT_EQ(floats(second.get(), "a"), std::vector<float>(3, -1.5F));
  EXPECT_EQ(first.get().at("b").shape(), (Shape{2, 2, 0}));
  EXPECT_EQ(first.get().at("c").tensor().to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{-(1LL << 60), -7}));
  EXPECT_EQ(second.get().at("c").tensor().to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{3}));
}

TEST_F(ServedModels, keep_nothing_of_requests_that_are_gone) {
  const AnyModel model = load(folder.save_line("line.safetensors", device));
  const Serving serving = serve(model, {.batch_size = 4, .sizes = {4}});
  const auto leases_after = [&](int requests) {
    for (int n = 0; n < requests; ++n) {
      static_cast<void>(serving.run({{"rows", tensor({{1.0, 2.0}})}}).get());  // padded
      const auto split = serving.run({{"rows", full(Shape{5, 2}, 1, DType::f32)}});
      EXPECT_EQ(floats(split.get(), "line"), std::vector<float>(5, 6.0F));
    }
    return device.stats().memory.leases;
  };
  const std::uint64_t before = leases_after(5);
  EXPECT_LT(leases_after(50), before + 10) << "a few may be on their way out";
}

TEST_F(ServedModels, give_results_that_share_no_memory) {
  const AnyModel model = load_onnx(onnx::node("Neg", {"x"}, {"y"}), {-1, 2});
  const Serving serving =
      serve(model, {.batch_size = 2, .batch_timeout = 10s, .wait = BatchWait::full});
  const auto first = serving.run({{"x", tensor({{1.0, 2.0}})}});
  const auto second = serving.run({{"x", tensor({{3.0, 4.0}})}});
  const Tensor one = first.get().at("y").tensor();
  EXPECT_EQ(one.buffer().size(), 8U) << "a row of its own, and not a view of the batch";
  EXPECT_EQ(one.to_vector<float>(), (std::vector{-1.0F, -2.0F}));
  EXPECT_EQ(floats(second.get(), "y"), (std::vector{-3.0F, -4.0F}));
}

TEST_F(ServedModels, fail_with_the_error_of_the_model) {
  const AnyModel model = load(folder.write("picky.lua", R"(
    return {inputs = {{name = "x", shape = {2}}}, outputs = {"y"},
            predict = function(given) error("not today") end})"));
  const Serving serving = serve(model);
  const auto answer = serving.run({{"x", tensor({1.0, 2.0})}});
  ASSERT_TRUE(answer.wait().has_error());
  EXPECT_EQ(answer.wait().error().code(), ErrorCode::script_error);
  EXPECT_EQ(serving.status().get().totals.failed, 1U);
}

TEST_F(ServedModels, answer_coroutines_and_take_their_cancellation) {
  const AnyModel model = load(folder.save_line("line.safetensors", device));
  const Serving serving =
      serve(model, {.batch_size = 8, .batch_timeout = 1h, .wait = BatchWait::full});
  const NamedValues given{{"rows", tensor({{1.0, 2.0}})}};
  boost::asio::io_context loop;
  boost::asio::cancellation_signal signal;
  std::exception_ptr thrown;
  const auto handler = [&](const std::exception_ptr& failure, const NamedValues&) {
    thrown = failure;
  };
  serving.async_run(given,
                    boost::asio::bind_cancellation_slot(
                        signal.slot(), boost::asio::bind_executor(loop.get_executor(), handler)));
  signal.emit(boost::asio::cancellation_type::terminal);
  loop.run();
  EXPECT_THROW(std::rethrow_exception(thrown), Error);
  const ServingStatus status = serving.status().get();
  EXPECT_EQ(status.totals.cancelled, 1U);
  EXPECT_EQ(status.queued, 0U) << "the request is cancelled, and not only the wait";
  std::vector<float> seen;
  serving.with_timeout(0ns);
  boost::asio::io_context other;
  boost::asio::co_spawn(
      other,
      [&]() -> boost::asio::awaitable<void> {
        const NamedValues out = co_await serving.async_run(given, boost::asio::use_awaitable);
        seen = floats(out, "line");
      },
      boost::asio::detached);
  other.run();
  EXPECT_EQ(seen, std::vector{9.0F});
}

TEST_F(ServedModels, end_with_their_system) {
  const AnyModel model = load(folder.save_line("line.safetensors", device));
  const Serving serving =
      serve(model, {.batch_size = 8, .batch_timeout = 1h, .wait = BatchWait::full});
  const auto waiting = serving.run({{"rows", tensor({{1.0, 2.0}})}});
  EXPECT_TRUE(system.stop());
  ASSERT_TRUE(waiting.ready());
  EXPECT_EQ(waiting.poll()->error().code(), ErrorCode::closed);
}

}  // namespace
}  // namespace stoker
