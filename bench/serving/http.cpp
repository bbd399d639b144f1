// Servings over HTTP on the loopback device: a model that computes nothing against a bare server of Boost.Beast, and
// one that computes against the same requests within the process. Client and servers share the machine's cores.
#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "stoker/api/actors.hpp"
#include "stoker/api/serve_http.hpp"
#include "stoker/api/system.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/bench/harness/groups.hpp"
#include "stoker/bench/harness/temporary_folder.hpp"
#include "stoker/bench/onnx/made_models.hpp"
#include "stoker/bench/onnx/our_model.hpp"
#include "stoker/bench/serving/echo_backend.hpp"
#include "stoker/bench/serving/http_load.hpp"

namespace stoker::bench {
namespace {

constexpr std::size_t connections = 64;
constexpr std::size_t ahead = 16;

std::string post(const std::string& model, const std::string& body, std::size_t json_bytes = 0) {
  const std::string length =
      json_bytes > 0 ? "Inference-Header-Content-Length: " + std::to_string(json_bytes) + "\r\n"
                     : "Content-Type: application/json\r\n";
  return "POST /v2/models/" + model + "/infer HTTP/1.1\r\nHost: localhost\r\n" + length +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// A row of zeros in binary, which is answered in binary.
std::string binary_row(const std::string& model, const onnx::ValueInfo& input) {
  nlohmann::json shape{1};
  std::size_t bytes = sizeof(float);
  for (std::size_t axis = 1; axis < input.type.dims->size(); ++axis) {
    const std::int64_t extent = (*input.type.dims)[axis].extent.value();
    shape.push_back(extent);
    bytes *= static_cast<std::size_t>(extent);
  }
  const std::string head = nlohmann::json{{"parameters", {{"binary_data_output", true}}},
                                          {"inputs",
                                           {{{"name", input.name},
                                             {"shape", shape},
                                             {"datatype", "FP32"},
                                             {"parameters", {{"binary_data_size", bytes}}}}}}}
                               .dump();
  return post(model, head + std::string(bytes, '\0'), head.size());
}

/// Rows a second of as many callers within the process.
double in_process(const Serving& serving, const NamedValues& row, double seconds) {
  std::atomic<bool> done{false};
  std::atomic<std::size_t> count{0};
  {
    std::vector<std::jthread> threads;
    threads.reserve(connections);
    for (std::size_t i = 0; i < connections; ++i)
      threads.emplace_back([&] {
        while (!done.load(std::memory_order_relaxed)) {
          wait_for(serving.run(row).get());
          count.fetch_add(1, std::memory_order_relaxed);
        }
      });
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    done = true;
  }
  return static_cast<double>(count.load()) / seconds;
}

void against_echo(Context& context, std::uint16_t port) {
  const std::string request =
      post("null", R"({"inputs":[{"name":"x","shape":[1],"datatype":"FP32","data":[1]}]})");
  const std::size_t bytes = OneClient{port}.ask(request);
  const EchoServer echo{bytes};
  const auto rates = [&](const std::string& name, std::size_t requests_ahead, double aim) {
    const Duel rates = duel(
        context.repeats(20), [&] { return load(port, request, connections, requests_ahead, 0.25); },
        [&] { return load(echo.port(), request, connections, requests_ahead, 0.25); });
    context.report.add(Row{name, rates.ours.scaled(1e-3), "k/s", Better::higher}
                           .against("a bare Beast server", rates.peer.scaled(1e-3))
                           .aim_ratio(aim)
                           .remark("a request of " + std::to_string(request.size()) +
                                   " bytes, an answer of " + std::to_string(bytes)));
  };
  rates("null model, 64 connections", 1, 0.6);
  rates("null model, 64 connections, 16 requests ahead", ahead, 0.5);
  OneClient ours{port};
  OneClient peer{echo.port()};
  const Duel idle = duel(
      context.repeats(5000), [&] { return seconds_of([&] { ours.ask(request); }); },
      [&] { return seconds_of([&] { peer.ask(request); }); });
  context.report.add(
      Row{"null model over HTTP, one caller, p50", idle.ours.scaled(1e6), "µs", Better::lower}
          .against("a bare Beast server", idle.peer.scaled(1e6))
          .aim_ratio(1.5));
}

void against_process(Context& context, std::uint16_t port, const Serving& serving,
                     const std::string& name) {
  const AnyModel& model = serving.model();
  const onnx::ValueInfo& input = model.inputs().at(0);
  const std::string request = binary_row(name, input);
  std::vector<std::int64_t> extents{1};
  for (std::size_t axis = 1; axis < input.type.dims->size(); ++axis)
    extents.push_back((*input.type.dims)[axis].extent.value());
  const DeviceScope scope{model.device()};
  const Shape shape = Shape::make(extents, "serving");
  const NamedValues row{
      {input.name,
       tensor(std::vector<float>(static_cast<std::size_t>(shape.elements()), 0.0F), shape)}};
  const Duel rates = duel(
      context.repeats(10), [&] { return load(port, request, connections, 1, 0.5); },
      [&] { return in_process(serving, row, 0.5); });
  context.report.add(
      Row{name + " over HTTP in binary, 64 connections", rates.ours, "rows/s", Better::higher}
          .against("64 callers in process", rates.peer)
          .aim_ratio(0.9)
          .remark("client and server share the machine's cores"));
  OneClient one{port};
  const Duel idle = duel(
      context.repeats(1000), [&] { return seconds_of([&] { one.ask(request); }); },
      [&] { return seconds_of([&] { wait_for(serving.run(row).get()); }); });
  context.report.add(Row{name + " over HTTP, one caller beyond in process, p50",
                         (idle.ours.median() - idle.peer.median()) * 1e6, "µs", Better::lower}
                         .aim(60));
}

}  // namespace

void serving_http(Context& context) {
  const System system;
  const Device cpu = system.device("cpu");
  const TemporaryFolder folder;
  write_made_models(folder.path());
  const auto models = std::make_shared<ServedModels>();
  const AnyModel echo{std::make_shared<const EchoBackend>(
      cpu, "x", std::vector<onnx::Dimension>{{.extent = {}, .symbol = "rows"}})};
  models->set("null", start_serving(system.supervisor(), echo, {.name = "null over http"}));
  const Serving encoder = start_serving(
      system.supervisor(), load_model(folder.path() / "encoder" / "model.onnx", {.device = cpu}),
      {.name = "encoder over http", .batch_size = 32, .sizes = {1, 2, 4, 8, 16, 32}});
  models->set("encoder", encoder);
  const HttpService service{system, models};
  LoopThread thread;
  const HttpServer server{thread.loop().get_executor(), service};
  const std::uint16_t port = server.listen("127.0.0.1", 0);
  against_echo(context, port);
  against_process(context, port, encoder, "encoder");
  server.close();
}

}  // namespace stoker::bench
