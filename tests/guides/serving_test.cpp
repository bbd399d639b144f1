// The examples of docs/serving.md; see guides_test.cpp.
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <filesystem>
#include <iostream>

#include "stoker/api/actors.hpp"
#include "stoker/api/nn.hpp"
#include "stoker/api/serve.hpp"
#include "stoker/api/serve_async.hpp"
#include "stoker/api/serve_http.hpp"
#include "stoker/api/system.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/api/train.hpp"

namespace {

using namespace std::chrono_literals;

class ServingGuide : public testing::Test {
 protected:
  ServingGuide() {
    stoker::nn::Model line{stoker::nn::Network{
        stoker::nn::dense(stoker::nn::input("rows", {2}), 1, {.name = "line"})}};
    line.merge_variables(
        {{"line.kernel", stoker::tensor({{2.0}, {3.0}})}, {"line.bias", stoker::tensor({1.0})}});
    line.save(path);
  }
  ~ServingGuide() override { std::filesystem::remove(path); }

  stoker::System system;
  stoker::Device device = system.device("cpu");
  stoker::DeviceScope cpu{device};
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("stoker_serving_guide_" + std::to_string(getpid()));
};

TEST_F(ServingGuide, serves_a_model_to_many_callers) {
  const stoker::Tensor rows = stoker::tensor({{1.0, 2.0}});
  const stoker::AnyModel model = stoker::load_model(path, {.device = device});
  const stoker::Serving lines =
      stoker::start_serving(system.supervisor(), model, {.batch_size = 32});
  const stoker::NamedValues out = lines.run({{"rows", rows}}, {.deadline = 2s}).get();
  const std::vector<float> numbers = out.at("line").tensor().to_vector<float>();
  EXPECT_EQ(numbers, std::vector{9.0F});

  const stoker::NamedValues given{{"rows", rows}};
  std::vector<float> seen;
  boost::asio::io_context loop;
  boost::asio::co_spawn(
      loop,
      [&]() -> boost::asio::awaitable<void> {
        const stoker::NamedValues later =
            co_await lines.async_run(given, boost::asio::use_awaitable);
        seen = later.at("line").tensor().to_vector<float>();
      },
      boost::asio::detached);
  loop.run();
  EXPECT_EQ(seen, numbers);

  lines.with_batch_size(16);  // from the next batch on
  lines.with_timeout(5ms);
  const auto answer = lines.run({{"rows", rows}});
  answer.cancel();
  EXPECT_TRUE(answer.ready());

  const stoker::ServingStatus now = lines.status().get();
  std::cout << now.queued << " requests wait, " << now.requests_per_second
            << " a second are answered\n";
  EXPECT_EQ(now.batch_size, 16);
  EXPECT_EQ(now.batch_timeout, 5ms);

  lines.drain().get();
  lines.stop().get();
}

TEST_F(ServingGuide, serves_by_priority_and_by_key) {
  const stoker::Tensor rows = stoker::tensor({{1.0, 2.0}});
  const stoker::AnyModel model = stoker::load_model(path, {.device = device});
  stoker::ServingOptions options{.name = "by priority"};
  options.priorities = {
      {},                                    // 1: people who wait at a screen
      {.max_requests = 100, .timeout = 2s},  // 2: at most 100, each for at most 2 s
      {.timeout = 1s, .action = stoker::LateAction::delay}};  // 3: the night's work
  options.default_priority = 2;
  const stoker::Serving ranked = stoker::start_serving(system.supervisor(), model, options);
  const auto first = ranked.run({{"rows", rows}}, {.priority = 1}).get();
  EXPECT_EQ(first.at("line").tensor().to_vector<float>(), std::vector{9.0F});
  EXPECT_EQ(ranked.status().get().levels.size(), 3U);

  const stoker::Serving keyed = stoker::start_serving(
      system.supervisor(), model, {.name = "by key", .batch_keys = {"interactive", "bulk"}});
  const auto answered = keyed.run({{"rows", rows}}, {.key = "bulk"}).get();
  EXPECT_EQ(answered.at("line").tensor().to_vector<float>(), std::vector{9.0F});
  EXPECT_EQ(keyed.status().get().keys.at("bulk").rows, 1U);
}

TEST_F(ServingGuide, serves_a_model_over_http) {
  const stoker::AnyModel model = stoker::load_model(path, {.device = device});
  const stoker::Serving lines = stoker::start_serving(system.supervisor(), model);
  boost::asio::io_context loop;
  auto models = std::make_shared<stoker::ServedModels>();
  models->set("lines", lines);
  const stoker::HttpService service{system, models};
  stoker::HttpServer server{loop.get_executor(), service};
  const std::uint16_t port = server.listen("127.0.0.1", 0);
  EXPECT_NE(port, 0);
  EXPECT_EQ(service.answer({.method = "GET", .target = "/v2/models/lines"}).get()->status, 200U);
  server.close();
  loop.run();
}

}  // namespace
