// A small image server on one thread. POST a PNG or JPEG to /edges and get its edges as a PNG; GET /metrics
// for Prometheus. The codecs, which are nearly all of the work, run on the system's bounded pool; a picture
// too many is answered with 503 and not with memory.
//
//     example_image_server            serves until interrupted:
//                                     curl --data-binary @examples/data/china.jpg localhost:8080/edges
//     example_image_server --demo     asks itself, prints what came back, and ends
#include <boost/asio.hpp>
#include <boost/beast.hpp>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "stoker/api/asio.hpp"
#include "stoker/api/image.hpp"
#include "stoker/api/stoker.hpp"

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

namespace {

struct Server {
  stoker::System system;
  stoker::Device device;
};

asio::awaitable<std::string> edges_of(const Server& server, std::string file) {
  const stoker::image::DecodeOptions limits{.limits = {.width = 8192, .height = 8192}};
  const stoker::Buffer photo = co_await stoker::async_get(
      stoker::image::decode(server.system, server.device, std::move(file), limits),
      asio::use_awaitable);
  const stoker::Buffer grey = server.device.run(stoker::kernels::Grayscale{}, {photo});
  const stoker::Buffer edges = server.device.run(stoker::kernels::Sobel{}, {grey});
  const auto png = co_await stoker::async_get(
      stoker::image::encode_png(server.system, edges, {.level = 1}), asio::use_awaitable);
  co_return std::string{reinterpret_cast<const char*>(png.data()), png.size()};
}

http::status status_of(const stoker::Error& error) {
  switch (error.code()) {
    case stoker::ErrorCode::overloaded: return http::status::service_unavailable;
    case stoker::ErrorCode::limit_exceeded: return http::status::payload_too_large;
    case stoker::ErrorCode::io_error:
    case stoker::ErrorCode::unsupported: return http::status::unsupported_media_type;
    default: return http::status::internal_server_error;
  }
}

asio::awaitable<Response> answer(const Server& server, Request request) {
  Response response{http::status::ok, request.version()};
  try {
    if (request.method() == http::verb::post && request.target() == "/edges") {
      response.body() = co_await edges_of(server, std::move(request.body()));
      response.set(http::field::content_type, "image/png");
    } else if (request.target() == "/metrics") {
      response.body() = stoker::prometheus_text(server.system.metrics().snapshot());
      response.set(http::field::content_type, stoker::prometheus_content_type);
    } else {
      response.result(http::status::not_found);
      response.body() = "POST a picture to /edges, or GET /metrics\n";
    }
  } catch (const stoker::Error& error) {
    response.result(status_of(error));
    response.body() = std::string{error.what()} + "\n";
  }
  co_return response;
}

asio::awaitable<void> serve_connection(tcp::socket socket, const Server& server) {
  beast::tcp_stream stream{std::move(socket)};
  beast::flat_buffer memory;
  for (bool keep_alive = true; keep_alive;) {
    Request request;
    co_await http::async_read(stream, memory, request, asio::use_awaitable);
    keep_alive = request.keep_alive();
    Response response = co_await answer(server, std::move(request));
    response.keep_alive(keep_alive);
    response.prepare_payload();
    co_await http::async_write(stream, response, asio::use_awaitable);
  }
}

asio::awaitable<void> listen(tcp::acceptor& acceptor, const Server& server) {
  for (;;) {
    tcp::socket socket = co_await acceptor.async_accept(asio::use_awaitable);
    asio::co_spawn(acceptor.get_executor(), serve_connection(std::move(socket), server),
                   [](const std::exception_ptr&) {});  // a client that went away
  }
}

asio::awaitable<Response> ask(tcp::endpoint server, http::verb verb, std::string target,
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
  co_return response;
}

asio::awaitable<void> demonstrate(tcp::endpoint address, const Server& server) {
  // Reading a file blocks, too.
  const std::string photo = co_await stoker::async_get(server.system.run_blocking([] {
    std::ifstream file{"examples/data/china.jpg", std::ios::binary};
    return std::string{std::istreambuf_iterator<char>{file}, {}};
  }),
                                                       asio::use_awaitable);
  const Response edges = co_await ask(address, http::verb::post, "/edges", photo);
  const auto file = std::as_bytes(std::span{edges.body()});
  std::cout << "edges: " << edges.result_int() << ", a picture of "
            << stoker::image::spec_of(file).to_string() << '\n';
  const Response refused = co_await ask(address, http::verb::post, "/edges", "no picture");
  std::cout << "no picture: " << refused.result_int() << ' ' << refused.body();
  const Response metrics = co_await ask(address, http::verb::get, "/metrics", {});
  std::cout << metrics.body();
}

}  // namespace

int main(int argc, char** argv) try {
  const bool demo = argc > 1 && std::string{argv[1]} == "--demo";
  asio::io_context loop{1};
  stoker::SystemOptions options;
  options.blocking = {.threads = 0, .queue = 32};  // a thread a core; 32 pictures may wait
  stoker::use_event_loop(options, loop.get_executor());
  const stoker::System system{options};
  const Server server{system, system.device()};

  tcp::acceptor acceptor{loop, tcp::endpoint{asio::ip::address_v4::loopback(),
                                             static_cast<unsigned short>(demo ? 0 : 8080)}};
  std::cout << "serving on " << acceptor.local_endpoint() << " with " << server.device.name()
            << std::endl;
  asio::co_spawn(loop, listen(acceptor, server), [](const std::exception_ptr&) {});
  asio::signal_set signals{loop, SIGINT, SIGTERM};
  if (demo) {
    asio::co_spawn(loop, demonstrate(acceptor.local_endpoint(), server),
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
