// The examples of docs/models.md; see guides_test.cpp.
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <filesystem>
#include <iostream>

#include "stoker/api/image.hpp"
#include "stoker/api/model.hpp"
#include "stoker/api/model_async.hpp"
#include "stoker/api/nn.hpp"
#include "stoker/api/system.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/api/train.hpp"

namespace {

class ModelsGuide : public testing::Test {
 protected:
  ModelsGuide() {
    stoker::nn::Model line{stoker::nn::Network{
        stoker::nn::dense(stoker::nn::input("rows", {2}), 1, {.name = "line"})}};
    line.merge_variables(
        {{"line.kernel", stoker::tensor({{2.0}, {3.0}})}, {"line.bias", stoker::tensor({1.0})}});
    line.save(path);
  }
  ~ModelsGuide() override { std::filesystem::remove(path); }

  stoker::System own;
  stoker::Device device = own.device("cpu");
  stoker::DeviceScope cpu{device};
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("stoker_models_guide_" + std::to_string(getpid()));
};

TEST_F(ModelsGuide, makes_inputs_of_pictures) {
  stoker::onnx::save([](const std::vector<stoker::Tensor>& x) { return std::vector{x[0] * 2}; },
                     {{"input", stoker::DType::f32, {1, 3, 2, 2}}}, path, {.outputs = {"output"}});
  const stoker::AnyModel filter = stoker::load_model(path, {.device = device});
  const stoker::TensorSpec spec{stoker::DType::u8, {4, 4, 3}};
  const stoker::Image picture{spec, std::vector<std::byte>(spec.bytes(), std::byte{255})};
  const stoker::Tensor photo{
      device.buffer(picture.spec, picture.bytes)};  // u8 [rows, columns, colours]
  const stoker::onnx::Value input =
      filter.image_input("input", photo, {.mean = {127}, .std = {128}});
  const stoker::NamedValues seen = filter.predict({{"input", input}}).get();
  EXPECT_EQ(seen.at("output").tensor().to_vector<float>(), std::vector<float>(12, 2.0F));
}

TEST_F(ModelsGuide, predicts_with_a_model_of_any_kind) {
  const stoker::Tensor rows = stoker::tensor({{1.0, 2.0}});
  const stoker::AnyModel model = stoker::load_model(path, {.device = device});
  for (const stoker::onnx::ValueInfo& input : model.inputs())
    std::cout << input.name << ' ' << input.type.to_string() << '\n';  // "rows float[batch,2]"
  const stoker::NamedValues out = model.predict({{"rows", rows}}).get();
  const std::vector<float> numbers = out.at("line").tensor().to_vector<float>();
  EXPECT_EQ(numbers, std::vector{9.0F});

  const stoker::NamedValues given{{"rows", rows}};
  std::vector<float> seen;
  boost::asio::io_context loop;
  boost::asio::co_spawn(
      loop,
      [&]() -> boost::asio::awaitable<void> {
        const stoker::NamedValues later =
            co_await model.async_predict(given, boost::asio::use_awaitable);
        seen = later.at("line").tensor().to_vector<float>();
      },
      boost::asio::detached);
  loop.run();
  EXPECT_EQ(seen, numbers);
}

}  // namespace
