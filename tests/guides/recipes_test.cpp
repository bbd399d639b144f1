// The examples of docs/recipes.md; see guides_test.cpp.
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <span>
#include <thread>

#include "stoker/api/asio.hpp"
#include "stoker/api/image.hpp"
#include "stoker/api/stoker.hpp"
#include "stoker/api/train.hpp"
#include "stoker/tests/checkout/checkout.hpp"

namespace asio = boost::asio;
namespace nn = stoker::nn;

namespace {

const std::filesystem::path root = stoker::checkout_folder();

class Recipes : public testing::Test {
 protected:
  Recipes() { std::filesystem::create_directories(folder); }
  ~Recipes() override { std::filesystem::remove_all(folder); }
  const std::filesystem::path folder =
      std::filesystem::path{testing::TempDir()} / ("stoker_recipes_" + std::to_string(::getpid()));
};

TEST_F(Recipes, images) {
  const stoker::System system;
  const stoker::Device device = system.device("cpu");
  const std::filesystem::path input = root / "examples/data/china.jpg";
  const std::filesystem::path output = folder / "edges.png";

  const stoker::Buffer photo = stoker::image::load(system, device, input).get();
  const stoker::Buffer edges =
      device.run(stoker::kernels::Sobel{}, {device.run(stoker::kernels::Grayscale{}, {photo})});
  stoker::image::save(system, output, edges).get();

  EXPECT_EQ(stoker::image::load(output).spec.shape, (stoker::Shape{427, 640, 1}));
}

std::vector<std::byte> bytes_of(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  const auto bytes = std::as_bytes(std::span{text});
  return {bytes.begin(), bytes.end()};
}

using Bytes = std::vector<std::byte>;

/// The body of a request becomes the body of the answer.
asio::awaitable<Bytes> edges_of(stoker::System system, stoker::Device device, Bytes file) {
  const stoker::image::DecodeOptions options{
      .limits = {.width = 8192, .height = 8192, .bytes = 64 << 20, .file_bytes = 8 << 20}};
  const stoker::Buffer photo = co_await stoker::async_get(
      stoker::image::decode(system, device, std::move(file), options), asio::use_awaitable);
  const stoker::Buffer edges =
      device.run(stoker::kernels::Sobel{}, {device.run(stoker::kernels::Grayscale{}, {photo})});
  co_return co_await stoker::async_get(stoker::image::encode_png(system, edges, {.level = 1}),
                                       asio::use_awaitable);
}

TEST_F(Recipes, images_in_a_server) {
  asio::io_context loop;
  stoker::SystemOptions options;
  stoker::use_event_loop(options, loop.get_executor());
  const stoker::System system{options};
  Bytes answer;
  asio::co_spawn(loop,
                 edges_of(system, system.device("cpu"), bytes_of(root / "examples/data/china.jpg")),
                 [&](const std::exception_ptr& failure, Bytes png) {
                   if (failure) std::rethrow_exception(failure);
                   answer = std::move(png);
                 });
  loop.run();
  EXPECT_EQ(stoker::image_format(answer), stoker::ImageFormat::png);
}

TEST_F(Recipes, stopping) {
  stoker::SystemOptions options;
  options.stop_patience = std::chrono::seconds{10};
  const stoker::System system{options};
  const stoker::Device device = system.device("cpu");
  const stoker::CancelSource shutdown;

  const stoker::Buffer x = device.buffer({-1.0F, 2.0F});
  const auto values = device.run("relu", {x}).read<float>({.cancel = shutdown.token()});

  shutdown.cancel(stoker::cancelled_error("shutdown"));  // what has this token ends now
  const bool is_clean = system.stop();                   // actors, then devices
  if (!is_clean) std::cerr << "something still runs\n";
  EXPECT_TRUE(is_clean);
  EXPECT_TRUE(values.ready());
}

TEST_F(Recipes, stopping_a_loop) {
  asio::io_context loop;
  stoker::SystemOptions options;
  stoker::use_event_loop(options, loop.get_executor());
  const stoker::System system{options};
  asio::ip::tcp::acceptor acceptor{loop, {asio::ip::address_v4::loopback(), 0}};
  acceptor.async_accept([](boost::system::error_code, const asio::ip::tcp::socket&) {});
  const stoker::CancelSource shutdown;

  asio::signal_set signals{loop, SIGINT, SIGTERM};
  signals.async_wait([&](boost::system::error_code, int) {
    acceptor.close();                                      // no new connections
    shutdown.cancel(stoker::cancelled_error("shutdown"));  // what has this token ends now
  });
  asio::post(loop, [] { std::raise(SIGTERM); });
  loop.run();  // returns when the last connection and the last command have ended

  EXPECT_FALSE(acceptor.is_open());
}

TEST_F(Recipes, the_default_system) {
  const stoker::System system;
  const stoker::DeviceScope scope{system.device("cpu")};  // for this thread, until the scope ends
  const stoker::Tensor here = stoker::ones({2, 3});
  nn::Model model{nn::Network{nn::dense(nn::input({3}), 2)}, {.seed = 1}};  // on the CPU, too
  EXPECT_EQ(model.device(), system.device("cpu"));
  EXPECT_EQ(here.buffer().device(), system.device("cpu"));

  nn::Model other{model.network(), {.device = system.device("cpu"), .seed = 1}};  // no scope needed
  EXPECT_EQ(other.device(), system.device("cpu"));
}

TEST_F(Recipes, metrics_and_trace) {
  const stoker::System system;
  const stoker::Device device = system.device("cpu");
  const std::filesystem::path file = folder / "trace.json";

  stoker::Counter& photos = system.metrics().counter("photos_total", "photos that were asked for");
  photos.add();
  const std::string page =
      stoker::prometheus_text(system.metrics().snapshot());  // for GET /metrics

  system.trace().enable();
  const auto values = device.run("relu", {device.buffer({-1.0F, 2.0F})}).read<float>().get();
  system.trace().enable(false);
  system.trace().write_json(file.string());  // open it with ui.perfetto.dev

  EXPECT_NE(page.find("photos_total 1"), std::string::npos) << page;
  for (const char* of_stoker : {"stoker_commands_completed_total", "stoker_kernels_compiled_total"})
    EXPECT_NE(page.find(of_stoker), std::string::npos) << page;
  EXPECT_GT(std::filesystem::file_size(file), 100U);
}

TEST_F(Recipes, models_are_kept_and_used_by_many_threads) {
  const stoker::System system;
  const stoker::Device device = system.device("cpu");
  const std::filesystem::path file = folder / "model.safetensors";
  const nn::Network network{nn::dense(nn::dense(nn::input({2}), 8, {.activation = nn::tanh}), 2)};
  {
    nn::Model model{network, {.device = device, .seed = 1}};
    model.save(file);  // graph, numbers, optimizer: training can continue from it
  }
  const nn::Model model = nn::Model::load(file, device);

  std::vector<std::vector<float>> answers(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < answers.size(); ++i)
    threads.emplace_back([&answers, i, model] {  // a copy is a handle to the same model
      const stoker::Tensor x = stoker::tensor({{1.0, static_cast<double>(i)}});
      answers[i] = model.predict(x).to_vector<float>();
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& answer : answers) EXPECT_EQ(answer.size(), 2U);
  EXPECT_NE(answers[0], answers[1]);
}

}  // namespace
