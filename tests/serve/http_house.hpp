// Models behind an HTTP server on an event loop of two threads, for tests.
//
//     /v2/models/line   y = 2 a + 3 b + 1 for rows of a and b; requests join
//     /v2/models/held   the same; a request waits until a second one comes, or until release()
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "stoker/api/actors.hpp"
#include "stoker/api/serve_http.hpp"
#include "stoker/tests/model/model_folder.hpp"
#include "stoker/tests/serve/http_client.hpp"

namespace stoker {

class HttpHouse : public testing::Test {
 protected:
  HttpHouse() {
    models->set("line", serve("line", {}));
    models->set("held", held);
  }
  ~HttpHouse() override { stop(); }

  [[nodiscard]] Serving serve(const std::string& name, ServingOptions options) const {
    options.name = name;
    return start_serving(system.supervisor(), line, options);
  }
  /// Starts a server; its port.
  std::uint16_t open(const HttpServerOptions& options = {}) {
    server.emplace(loop.get_executor(), service, options);
    while (threads.size() < 2) threads.emplace_back([this] { loop.run(); });
    return server->listen("127.0.0.1", 0);
  }
  void stop() {
    server.reset();
    work.reset();
    loop.stop();
    threads.clear();
  }
  /// Waits until as many requests wait in "held".
  void await_held(std::size_t requests) const {
    while (held.status().get().queued != requests) std::this_thread::yield();
  }
  void release() const { held.with_timeout(std::chrono::nanoseconds{0}); }

  static std::string rows(double a, double b) {
    const nlohmann::json body{
        {"inputs",
         {{{"name", "rows"}, {"shape", {1, 2}}, {"datatype", "FP32"}, {"data", {a, b}}}}}};
    return body.dump();
  }
  static std::vector<double> result(const std::string& body) {
    const nlohmann::json document = nlohmann::json::parse(body, nullptr, false);
    if (!document.contains("outputs")) {
      ADD_FAILURE() << body;
      return {};
    }
    return document["outputs"][0]["data"].get<std::vector<double>>();
  }
  static std::string error_of(const std::string& body) {
    return nlohmann::json::parse(body).at("error").get<std::string>();
  }

  static inline const std::string line_path = "/v2/models/line/infer";
  static inline const std::string held_path = "/v2/models/held/infer";

  System system;
  Device device = system.device("cpu");
  DeviceScope scope{device};
  ModelFolder folder;
  AnyModel line = load_model(folder.save_line("line.safetensors", device), {.device = device});
  Serving held = serve("held", {.batch_size = 2,
                                .batch_timeout = std::chrono::hours{1},
                                .wait = BatchWait::full,
                                .max_requests = 8});
  std::shared_ptr<ServedModels> models = std::make_shared<ServedModels>();
  HttpService service{system, models};
  boost::asio::io_context loop;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      loop.get_executor()};
  std::optional<HttpServer> server;
  std::vector<std::jthread> threads;
};

}  // namespace stoker
