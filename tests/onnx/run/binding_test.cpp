// Inputs and outputs that are bound once.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <optional>
#include <thread>

#include "stoker/api/tensor/core/host_calls.hpp"
#include "stoker/runtime/futures/cancel.hpp"
#include "stoker/runtime/futures/when.hpp"
#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

class Bindings : public OnnxTest {
 protected:
  [[nodiscard]] Model running_sum() const {
    return GraphBuilder{}
        .input("x", {"n"})
        .constant("axis", integers({0}))
        .node("CumSum", {"x", "axis"}, {"y"})
        .output("y")
        .load(here());
  }
  static std::vector<float> read(const Buffer& buffer) { return buffer.read<float>().get(); }
};

TEST_F(Bindings, runs_read_and_write_the_memory_that_was_bound) {
  const Buffer in = device_.buffer({1.0F, 2.0F, 3.0F});
  const Buffer out = device_.buffer(DType::f32, Shape{3});
  const Binding binding = running_sum().bind({{"x", Tensor{in}}}, {{"y", out}});
  binding.run().get();
  EXPECT_EQ(read(out), (std::vector<float>{1, 3, 6}));
  in.write(std::vector<float>{5, 5, 5});
  const Future<> second = binding.run();
  EXPECT_EQ(read(out), (std::vector<float>{5, 10, 15})) << "buffers keep the order";
  EXPECT_TRUE(second.wait().has_value());
}

TEST_F(Bindings, memory_of_the_program_is_read_and_written_in_place) {
  struct alignas(64) Memory {
    std::array<float, 16> x = {1, 1, 1, 1}, y = {};
  };
  const auto memory = std::make_shared<Memory>();
  const TensorSpec spec{DType::f32, Shape{16}};
  const Buffer in = device_.adopt(spec, std::as_writable_bytes(std::span{memory->x}), memory);
  const Buffer out = device_.adopt(spec, std::as_writable_bytes(std::span{memory->y}), memory);
  const Binding binding = running_sum().bind({{"x", Tensor{in}}}, {{"y", out}});
  for (const float first : {1.0F, 7.0F}) {
    memory->x[0] = first;
    binding.run().get();
    EXPECT_EQ(memory->y[15], first + 3);
  }
}

TEST_F(Bindings, an_output_that_is_not_bound_gets_a_buffer) {
  const Binding binding = running_sum().bind({{"x", ones({2})}});
  binding.run().get();
  EXPECT_EQ(read(binding.outputs().at("y")), (std::vector<float>{1, 2}));
}

TEST_F(Bindings, outputs_that_no_kernel_writes_are_copied) {
  const Model model = GraphBuilder{}
                          .input("x", {2})
                          .constant("k", reals({7, 8}))
                          .node("Identity", {"x"}, {"same"})
                          .node("Identity", {"k"}, {"constant"})
                          .node("Exp", {"x"}, {"e"})
                          .node("Identity", {"e"}, {"again"})
                          .output("same")
                          .output("constant")
                          .output("e")
                          .output("again")
                          .load(here());
  const Buffer in = device_.buffer({1.0F, 2.0F});
  const Binding binding = model.bind({{"x", Tensor{in}}});
  for (const std::vector<float>& x : {std::vector<float>{0, 0}, std::vector<float>{3, 4}}) {
    in.write(x);
    binding.run().get();
    EXPECT_EQ(read(binding.outputs().at("same")), x);
    EXPECT_EQ(read(binding.outputs().at("constant")), (std::vector<float>{7, 8}));
    EXPECT_EQ(read(binding.outputs().at("e")), read(binding.outputs().at("again")));
    EXPECT_NEAR(read(binding.outputs().at("again"))[1], std::exp(x[1]), 1e-4);
  }
}

TEST_F(Bindings, a_run_reads_what_was_written_before_it_where_the_host_computes) {
  // The host's function reads its operands when it is called, after all runs were started.
  OperatorTable table = OperatorTable::standard();
  table.add({.name = "Multiplied",
             .domain = "test",
             .least_inputs = 2,
             .most_inputs = 2,
             .lower = [](Call& call) {
               const Tensor product = host_call(
                   call.x().spec(), [](const std::vector<Tensor>& in) { return in[0] * in[1]; },
                   {call.x(0), call.x(1)});
               return Values{call.like(product)};
             }});
  LoadOptions options = here();
  options.operators = &table;
  const Model model = GraphBuilder{}
                          .input("x", {2})
                          .node("Add", {"x", "x"}, {"twice"})
                          .node("Multiplied", {"twice", "x"}, {"y"}, {}, "test")
                          .node("Neg", {"y"}, {"z"})
                          .output("y")
                          .output("z")
                          .output("x")
                          .load(options);
  const Buffer in = device_.buffer({0.0F, 0.0F});
  const Binding binding = model.bind({{"x", Tensor{in}}});
  const NamedBuffers& out = binding.outputs();
  std::vector<Future<>> runs;
  std::vector<std::array<Future<std::vector<float>>, 3>> results;
  for (int i = 0; i < 64; ++i) {  // nobody waits for one before the next
    in.write(std::vector<float>{1, static_cast<float>(i)});
    runs.push_back(binding.run());
    results.push_back(
        {out.at("x").read<float>(), out.at("y").read<float>(), out.at("z").read<float>()});
  }
  when_all(std::move(runs)).get();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto x = static_cast<float>(i);
    EXPECT_EQ(results[i][0].get(), (std::vector<float>{1, x}));
    EXPECT_EQ(results[i][1].get(), (std::vector<float>{2, 2 * x * x}));
    EXPECT_EQ(results[i][2].get(), (std::vector<float>{-2, -2 * x * x}));
  }
}

TEST_F(Bindings, a_buffer_that_a_run_reads_is_no_output) {
  const Model model = GraphBuilder{}
                          .input("a", {2})
                          .input("b", {2})
                          .constant("k", reals({7, 8}))
                          .node("Identity", {"a"}, {"same"})
                          .node("Identity", {"k"}, {"constant"})
                          .node("Exp", {"b"}, {"e"})
                          .output("same")
                          .output("constant")
                          .output("e")
                          .load(here());
  const Buffer a = device_.buffer({1.0F, 2.0F});
  const NamedValues inputs{{"a", Tensor{a}}, {"b", Tensor{device_.buffer({0.0F, 0.0F})}}};
  const Buffer weight = model.run(inputs).get().at("constant").tensor().buffer();
  for (const NamedBuffers& outputs :
       {NamedBuffers{{"same", a}}, NamedBuffers{{"e", a}}, NamedBuffers{{"constant", weight}},
        NamedBuffers{{"e", weight}}})
    EXPECT_EQ(refusal([&] { (void)model.bind(inputs, outputs); }).code(),
              ErrorCode::invalid_argument)
        << outputs.begin()->first;
}

TEST_F(Bindings, a_buffer_is_one_output_only) {
  const Model model = GraphBuilder{}
                          .input("x", {1})
                          .node("Exp", {"x"}, {"e"})
                          .node("Neg", {"x"}, {"n"})
                          .output("e")
                          .output("n")
                          .load(here());
  const NamedValues x{{"x", Tensor{device_.buffer({2.0F})}}};
  const Buffer out = device_.buffer(DType::f32, Shape{1});
  const Error error = refusal([&] { (void)model.bind(x, {{"e", out}, {"n", out}}); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.detail("output"), "n");
  EXPECT_EQ(error.detail("other"), "e");
}

TEST_F(Bindings, only_outputs_that_are_wanted_are_bound) {
  const Model model = GraphBuilder{}
                          .input("x", {1})
                          .node("Exp", {"x"}, {"e"})
                          .node("Neg", {"x"}, {"n"})
                          .output("e")
                          .output("n")
                          .load(here());
  const NamedValues x{{"x", Tensor{device_.buffer({2.0F})}}};
  const Buffer out = device_.buffer(DType::f32, Shape{1});
  const Binding binding = model.bind(x, {{"n", out}}, {.outputs = {"n"}});
  EXPECT_EQ(binding.outputs().size(), 1U);
  binding.run().get();
  EXPECT_EQ(read(out), (std::vector<float>{-2}));
  const Error error = refusal([&] { (void)model.bind(x, {{"e", out}}, {.outputs = {"n"}}); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.detail("output"), "e");
}

TEST_F(Bindings, a_run_follows_one_that_was_cancelled) {
  const Binding binding = running_sum().bind({{"x", Tensor{device_.buffer({1.0F, 2.0F})}}});
  const CancelSource source;
  source.cancel(cancelled_error("test"));
  const Future<> ended = binding.run({.cancel = source.token()});
  ASSERT_FALSE(ended.wait());
  EXPECT_EQ(ended.wait().error().code(), ErrorCode::cancelled);
  binding.run().get();
  EXPECT_EQ(read(binding.outputs().at("y")), (std::vector<float>{1, 3}));
}

TEST_F(Bindings, released_memory_is_refused_by_the_run) {
  const Buffer in = device_.buffer({1.0F, 2.0F});
  const Binding binding = running_sum().bind({{"x", Tensor{in}}});
  in.release();
  EXPECT_EQ(refusal([&] { binding.run().get(); }).code(), ErrorCode::released);
  EXPECT_EQ(refusal([&] {
              (void)running_sum().bind({{"x", Tensor{in}}});
            }).code(),
            ErrorCode::released);
}

TEST_F(Bindings, empty_tensors_are_bound) {
  const Model model = GraphBuilder{}
                          .input("x", {"n"})
                          .node("Identity", {"x"}, {"same"})
                          .node("Exp", {"x"}, {"e"})
                          .output("same")
                          .output("e")
                          .load(here());
  const Binding binding = model.bind({{"x", Tensor{device_.buffer(DType::f32, Shape{0})}}});
  binding.run().get();
  EXPECT_TRUE(read(binding.outputs().at("same")).empty());
  EXPECT_TRUE(read(binding.outputs().at("e")).empty());
}

TEST_F(Bindings, many_threads_run_one) {
  const Buffer in = device_.buffer({1.0F, 2.0F, 3.0F});
  const Binding binding = running_sum().bind({{"x", Tensor{in}}});
  std::vector<std::jthread> threads;
  std::atomic<int> ran = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 16; ++k) ran += binding.run().wait().has_value();
    });
  threads.clear();
  EXPECT_EQ(ran, 64);
  EXPECT_EQ(read(binding.outputs().at("y")), (std::vector<float>{1, 3, 6}));
}

TEST(Binding, outlives_its_model_and_what_it_started) {
  std::optional<System> system{std::in_place};
  const Device device = system->device("cpu");
  const Buffer in = device.buffer({1.0F, 2.0F});
  std::optional<Binding> binding = GraphBuilder{}
                                       .input("x", {2})
                                       .node("Neg", {"x"}, {"y"})
                                       .output("y")
                                       .load({.device = device})
                                       .bind({{"x", Tensor{in}}});
  const Buffer out = binding->outputs().at("y");
  const Future<> ran = binding->run();
  const Binding copy = *binding;
  binding.reset();
  EXPECT_TRUE(ran.wait().has_value());
  EXPECT_EQ(out.read<float>().get(), (std::vector<float>{-1, -2}));
  const Future<> last = copy.run();
  system.reset();
  EXPECT_TRUE(last.ready());
  try {
    copy.run().get();
    ADD_FAILURE() << "its system is gone";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::closed);
  }
}

TEST_F(Bindings, runs_draw_anew_unless_there_is_a_seed) {
  const Model model =
      GraphBuilder{}
          .node("RandomUniform", {}, {"y"}, {named("shape", std::vector<std::int64_t>{8})})
          .output("y")
          .load(here());
  const auto numbers_of = [](const Binding& binding) {
    binding.run().get();
    return read(binding.outputs().at("y"));
  };
  const Binding anew = model.bind({});
  EXPECT_NE(numbers_of(anew), numbers_of(anew));
  const Binding seeded = model.bind({}, {}, {.seed = 3});
  const std::vector<float> first = numbers_of(seeded);
  EXPECT_EQ(first, numbers_of(seeded));
  EXPECT_EQ(first, model.run({}, {.seed = 3}).get().at("y").tensor().to_vector<float>());
}

TEST_F(Bindings, what_cannot_be_bound_is_refused) {
  const Model model = running_sum();
  const Buffer in = device_.buffer({1.0F, 2.0F, 3.0F});
  const NamedValues x{{"x", Tensor{in}}};
  const auto code_of = [&](const NamedBuffers& outputs) {
    return refusal([&] { (void)model.bind(x, outputs); }).code();
  };
  EXPECT_EQ(code_of({{"z", in}}), ErrorCode::not_found);
  EXPECT_EQ(code_of({{"y", in}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of({{"y", Buffer{}}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of({{"y", device_.buffer(DType::f32, Shape{4})}}), ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of({{"y", device_.buffer(DType::s32, Shape{3})}}), ErrorCode::dtype_mismatch);
  const Device other = system_.device("null");
  EXPECT_EQ(code_of({{"y", other.buffer(DType::f32, Shape{3})}}), ErrorCode::wrong_device);
}

TEST_F(Bindings, a_plan_that_is_cut_is_refused_with_the_node) {
  const Model model =
      GraphBuilder{}.input("x", {"n"}).node("NonZero", {"x"}, {"y"}).output("y").load(here());
  const Error error = refusal([&] { (void)model.bind({{"x", ones({3})}}); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_EQ(error.detail("node"), "the node of 'y' (NonZero)");
}

}  // namespace
}  // namespace stoker::onnx
