// The examples of docs/onnx.md; see guides_test.cpp.
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "stoker/api/model.hpp"
#include "stoker/api/nn.hpp"
#include "stoker/api/onnx.hpp"
#include "stoker/api/onnx_async.hpp"
#include "stoker/api/stoker.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/api/train.hpp"
#include "stoker/tests/onnx/reading/message.hpp"

namespace {

class OnnxGuide : public testing::Test {
 protected:
  ~OnnxGuide() override { std::filesystem::remove(path); }
  void write(const stoker::onnx::Message& model) const {
    std::ofstream{path, std::ios::binary} << model.bytes();
  }

  stoker::System system;
  stoker::Device device = system.device("cpu");
  stoker::DeviceScope cpu{device};
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("stoker_onnx_guide_" + std::to_string(getpid()) + ".onnx");
};

TEST_F(OnnxGuide, writes_networks_and_functions) {
  const stoker::nn::Model line{
      stoker::nn::Network{stoker::nn::dense(stoker::nn::input("rows", {2}), 1, {.name = "line"})}};
  stoker::onnx::save(line, path);  // an nn::Model; the batch is open
  stoker::onnx::save(line, path, {.opset = 13, .batch = 1});
  EXPECT_EQ(stoker::onnx::load(path).inputs().at(0).type.to_string(), "float[1,2]");

  const stoker::Tensor bias = stoker::tensor({1.0, -1.0}).eval();
  const auto layer = [&](const std::vector<stoker::Tensor>& inputs) {
    return std::vector{stoker::tanh(inputs[0] + bias)};
  };
  stoker::onnx::save(layer, {{"x", stoker::DType::f32, {"batch", 2}}}, path,
                     {.outputs = {"y"}, .weights = {{"bias", bias}}});
  const stoker::onnx::Model model = stoker::onnx::load(path);
  const stoker::NamedValues out = model.run({{"x", stoker::tensor({{-1.0, 1.0}})}}).get();
  EXPECT_EQ(out.at("y").tensor().to_vector<float>(), (std::vector{0.0F, 0.0F}));
}

TEST_F(OnnxGuide, runs_a_model) {
  using stoker::onnx::graph;
  using stoker::onnx::node;
  write(stoker::onnx::model(graph(node("Abs", {"x"}, {"y"}), {"x"}, {"y"})));
  const stoker::onnx::Model model = stoker::onnx::load(path, {.device = device});
  const stoker::onnx::NamedValues out = model.run({{"x", stoker::tensor({1.0, -2.0})}}).get();
  EXPECT_EQ(out.at("y").tensor().to_vector<float>(), (std::vector{1.0F, 2.0F}));

  const stoker::onnx::ModelStats stats = model.stats();
  EXPECT_EQ(stats.traced, 1U);  // programs that were made
  EXPECT_EQ(stats.cuts, 0U);    // reads between two programs
  EXPECT_EQ(stats.weight_bytes,
            0U);  // of constants on the device; plan_bytes: of what runs of the plans work in

  const std::vector<float> pixels{1, -2};
  const stoker::Tensor x = stoker::tensor(std::span<const float>{pixels}, stoker::Shape{2});
  std::vector<float> y(2);
  model.run({{"x", x}}).get().at("y").tensor().buffer().read_into(std::span{y}, nullptr).get();
  EXPECT_EQ(y, (std::vector{1.0F, 2.0F}));

  const stoker::Buffer in = device.buffer({1.0F, -2.0F});
  const stoker::onnx::Binding binding = model.bind({{"x", stoker::Tensor{in}}});
  in.write(std::vector<float>{-3, 4});
  const stoker::Future<> ran = binding.run();
  EXPECT_EQ(binding.outputs().at("y").read<float>().get(), (std::vector{3.0F, 4.0F}));

  const stoker::onnx::Model small =
      stoker::onnx::load(path, {.device = device, .precision = stoker::onnx::Precision::f16});
  const stoker::onnx::PrecisionReport report = small.info().precision.value();
  EXPECT_EQ(report.kept.at(0).name, "Abs");
  EXPECT_EQ(report.kept.at(0).why, "what it reads is f32");

  const stoker::onnx::Description info = model.info();
  EXPECT_EQ(info.operators.at(0).name, "Abs");
  EXPECT_TRUE(info.unsupported.empty());
  system.trace().enable();
  const stoker::onnx::PlanDescription plan = model.plan({{"x", x}});
  EXPECT_EQ(plan.segments.at(0).kernels(), 1U);
  for (const auto& kernel : plan.segments[0].steps.at(0).kernels)
    std::cout << kernel.name << " " << kernel.time->count() << " ns for " << kernel.nodes.at(0)
              << "\n";
}

TEST_F(OnnxGuide, serves_shapes_that_were_warmed_up) {
  namespace onnx = stoker::onnx;
  const onnx::Message of_any_length =
      onnx::tensor_type(onnx::ElementType::f32, {onnx::Message{}.text(2, "n")});
  write(onnx::model(onnx::Message{}
                        .messages(1, onnx::node("Abs", {"x"}, {"y"}).all)
                        .message(11, onnx::value_info("x", of_any_length))
                        .message(12, onnx::value_info("y", of_any_length))));
  const stoker::onnx::Model served =
      stoker::onnx::load(path, {.device = device, .on_new_shape = stoker::onnx::NewShape::refuse});
  served.warm_up({{"x", stoker::zeros({2})}});
  try {
    static_cast<void>(served.run({{"x", stoker::zeros({3})}}));
  } catch (const stoker::Error& refused) {
    EXPECT_EQ(refused.code(), stoker::ErrorCode::not_found);
    EXPECT_EQ(refused.detail("came"), "x float[3]");
    EXPECT_EQ(refused.detail("expected"), "x float[2]");  // the nearest plan
  }
  EXPECT_THROW(static_cast<void>(served.run({{"x", stoker::zeros({3})}})), stoker::Error);
}

TEST_F(OnnxGuide, awaits_a_model) {
  using boost::asio::use_awaitable;
  write(stoker::onnx::model(
      stoker::onnx::graph(stoker::onnx::node("Abs", {"x"}, {"y"}), {"x"}, {"y"})));
  boost::asio::io_context loop;
  std::vector<float> y;
  const auto program = [&]() -> boost::asio::awaitable<void> {
    const stoker::onnx::LoadOptions options{.device = device};
    const stoker::onnx::Model model =
        co_await stoker::onnx::async_load(system, path, use_awaitable, options);
    const stoker::onnx::NamedValues inputs{{"x", stoker::tensor({1.0, -2.0})}};
    const stoker::onnx::NamedValues out = co_await model.async_run(inputs, use_awaitable);
    y = co_await stoker::async_get(out.at("y").tensor().read<float>());
  };
  boost::asio::co_spawn(loop, program,
                        [](const std::exception_ptr& failure) { EXPECT_EQ(failure, nullptr); });
  loop.run();
  EXPECT_EQ(y, (std::vector{1.0F, 2.0F}));
}

TEST_F(OnnxGuide, chooses_passes) {
  using stoker::onnx::graph;
  using stoker::onnx::node;
  write(stoker::onnx::model(graph(node("Abs", {"x"}, {"y"}), {"x"}, {"y"})));
  const stoker::onnx::Model plain =
      stoker::onnx::load(path, {.device = device,
                                .optimize = stoker::onnx::Optimize::basic,
                                .without = {"constant_folding"}});
  EXPECT_EQ(
      plain.run({{"x", stoker::tensor({1.0, -2.0})}}).get().at("y").tensor().to_vector<float>(),
      (std::vector{1.0F, 2.0F}));
}

TEST_F(OnnxGuide, has_operators_of_its_own) {
  write(stoker::onnx::model(
            stoker::onnx::graph(stoker::onnx::node("Twice", {"x"}, {"y"}, {}, "com.example"), {"x"},
                                {"y"}))
            .message(8, stoker::onnx::opset("com.example", 1)));
  const std::filesystem::path& path_of_own = path;
  stoker::onnx::OperatorTable table = stoker::onnx::OperatorTable::standard();
  table.add({.name = "Twice", .domain = "com.example", .lower = [](stoker::onnx::Call& call) {
               return stoker::onnx::Values{call.like(call.x() * 2)};
             }});
  const stoker::onnx::Model own =
      stoker::onnx::load(path_of_own, {.device = device, .operators = &table});
  const stoker::onnx::NamedValues out = own.run({{"x", stoker::tensor({1.0, -2.0})}}).get();
  EXPECT_EQ(out.at("y").tensor().to_vector<float>(), (std::vector{2.0F, -4.0F}));
}

}  // namespace
