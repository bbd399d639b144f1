// A Boost.Beast server that already does something else, and now also infers: GET /hello greets, and everything below
// /ml is the Open Inference Protocol. One thread runs the server; no call of it blocks.
//
//     example_model_server MODEL            serves until interrupted: curl localhost:8080/ml/v2/models/model
//     example_model_server MODEL --demo     asks itself, prints what came back, and ends
#include <boost/asio.hpp>
#include <boost/beast.hpp>
#include <iostream>
#include <string>

#include "stoker/api/actors.hpp"
#include "stoker/api/serve.hpp"
#include "stoker/api/serve_http.hpp"
#include "stoker/api/stoker.hpp"

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

namespace {

Response greeting(const Request& request) {
  Response response{http::status::ok, request.version()};
  if (request.target() != "/hello") response.result(http::status::not_found);
  response.body() = request.target() == "/hello" ? "hello\n" : "GET /hello, or ask /ml\n";
  response.keep_alive(request.keep_alive());
  response.prepare_payload();
  return response;
}

asio::awaitable<void> serve_connection(tcp::socket socket, stoker::HttpService service) {
  beast::tcp_stream stream{std::move(socket)};
  beast::flat_buffer memory;
  for (bool keep_alive = true; keep_alive;) {
    Request request;
    co_await http::async_read(stream, memory, request, asio::use_awaitable);
    keep_alive = request.keep_alive();
    if (service.handles(request.target())) {
      const stoker::HttpResponse response =
          co_await service.async_answer(std::move(request), boost::asio::use_awaitable);
      co_await http::async_write(stream, response, boost::asio::use_awaitable);
    } else {
      co_await http::async_write(stream, greeting(request), asio::use_awaitable);
    }
  }
}

asio::awaitable<void> listen(tcp::acceptor& acceptor, stoker::HttpService service) {
  for (;;) {
    tcp::socket socket = co_await acceptor.async_accept(asio::use_awaitable);
    asio::co_spawn(acceptor.get_executor(), serve_connection(std::move(socket), service),
                   [](const std::exception_ptr&) {});  // a client that went away
  }
}

asio::awaitable<std::string> ask(tcp::endpoint server, http::verb verb, std::string target,
                                 std::string body) {
  beast::tcp_stream stream{co_await asio::this_coro::executor};
  co_await stream.async_connect(server, asio::use_awaitable);
  Request request{verb, target, 11, std::move(body)};
  request.set(http::field::host, "localhost");
  request.prepare_payload();
  co_await http::async_write(stream, request, asio::use_awaitable);
  beast::flat_buffer memory;
  Response response;
  co_await http::async_read(stream, memory, response, asio::use_awaitable);
  co_return std::to_string(response.result_int()) + ' ' + response.body();
}

asio::awaitable<void> demonstrate(tcp::endpoint address) {
  std::cout << "hello: " << co_await ask(address, http::verb::get, "/hello", {});
  std::cout << "model: " << co_await ask(address, http::verb::get, "/ml/v2/models/model", {})
            << '\n';
  const std::string body =
      R"({"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2]}]})";
  std::cout << "infer: "
            << co_await ask(address, http::verb::post, "/ml/v2/models/model/infer", body) << '\n';
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::cerr << "example_model_server MODEL [--demo]\n";
    return 2;
  }
  const bool demo = argc > 2 && std::string{argv[2]} == "--demo";
  const stoker::System system;
  const stoker::Serving serving = stoker::start_serving(
      system.supervisor(), stoker::load_model(argv[1], {.device = system.device()}));
  auto models = std::make_shared<stoker::ServedModels>();
  models->set("model", serving);
  const stoker::HttpService service{system, models, {.prefix = "/ml"}};

  asio::io_context loop{1};
  tcp::acceptor acceptor{loop, tcp::endpoint{asio::ip::address_v4::loopback(),
                                             static_cast<unsigned short>(demo ? 0 : 8080)}};
  std::cout << "serving on " << acceptor.local_endpoint() << std::endl;
  asio::co_spawn(loop, listen(acceptor, service), [](const std::exception_ptr&) {});
  asio::signal_set signals{loop, SIGINT, SIGTERM};
  if (demo) {
    asio::co_spawn(loop, demonstrate(acceptor.local_endpoint()),
                   [&](const std::exception_ptr& failure) {
                     loop.stop();
                     if (failure) std::rethrow_exception(failure);
                   });
  } else {
    signals.async_wait([&](boost::system::error_code, int) { loop.stop(); });
  }
  loop.run();
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
