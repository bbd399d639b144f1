// An HTTP server that embeds Stoker: one thread runs one io_context for the server, a timer and
// Stoker's actors alike, and no call of it blocks.
//
//     example_http_server            serves until interrupted: curl localhost:8080/blur
//     example_http_server --demo     asks itself once, submits 10,000 commands meanwhile, prints how
//                                    late its 1 ms timer was, and ends
//
// GET /blur answers with statistics of a blurred image; GET /health answers at once, always.
#include <algorithm>
#include <boost/asio.hpp>
#include <boost/beast.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "stoker/api/asio.hpp"
#include "stoker/api/stoker.hpp"

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;

namespace {

/// Blurs a 256×256 image of noise and describes the middle pixel.
asio::awaitable<std::string> blurred(stoker::Device device, stoker::Buffer noise) {
  const stoker::Buffer soft = device.run(stoker::kernels::GaussianBlur{.radius = 8}, {noise});
  const auto pixels = co_await stoker::async_get(soft.read<float>(), asio::use_awaitable);
  const auto [low, high] = std::ranges::minmax(pixels);
  co_return "blurred noise lies between " + std::to_string(low) + " and " + std::to_string(high) +
      "\n";
}

asio::awaitable<void> serve_connection(tcp::socket socket, stoker::Device device,
                                       stoker::Buffer noise) {
  beast::tcp_stream stream{std::move(socket)};
  beast::flat_buffer memory;
  for (bool keep_alive = true; keep_alive;) {
    http::request<http::string_body> request;
    co_await http::async_read(stream, memory, request, asio::use_awaitable);
    http::response<http::string_body> response{http::status::ok, request.version()};
    if (request.target() == "/health") {
      response.body() = "alive\n";
    } else if (request.target() == "/blur") {
      response.body() = co_await blurred(device, noise);
    } else {
      response.result(http::status::not_found);
      response.body() = "try /blur or /health\n";
    }
    keep_alive = request.keep_alive();
    response.keep_alive(keep_alive);
    response.prepare_payload();
    co_await http::async_write(stream, response, asio::use_awaitable);
  }
}

asio::awaitable<void> listen(tcp::acceptor& acceptor, stoker::Device device, stoker::Buffer noise) {
  for (;;) {
    tcp::socket socket = co_await acceptor.async_accept(asio::use_awaitable);
    asio::co_spawn(
        acceptor.get_executor(), serve_connection(std::move(socket), device, noise),
        [](const std::exception_ptr&) {});  // a client that went away is its own business
  }
}

/// Fires every millisecond and notes how late it was.
asio::awaitable<void> watch_the_clock(std::vector<double>& lateness_ms, const bool& done) {
  asio::steady_timer timer{co_await asio::this_coro::executor};
  while (!done) {
    const auto due = std::chrono::steady_clock::now() + std::chrono::milliseconds{1};
    timer.expires_at(due);
    co_await timer.async_wait(asio::use_awaitable);
    lateness_ms.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - due).count());
  }
}

/// Submits in portions, as a server under load would, and awaits the last of each.
asio::awaitable<void> submit_many(stoker::Device device, int count) {
  const stoker::Buffer x = device.buffer(std::vector<float>(4096, -1.0F));
  const stoker::Buffer y = device.buffer(stoker::DType::f32, stoker::Shape{4096});
  constexpr int portion = 100;
  for (int submitted = 0; submitted < count; submitted += portion) {
    stoker::Command last;
    for (int i = 0; i < portion; ++i) last = device.submit(stoker::kernels::Relu{}, {x}, y);
    co_await stoker::async_get(last, asio::use_awaitable);
  }
}

asio::awaitable<std::string> fetch(tcp::endpoint server, std::string target) {
  beast::tcp_stream stream{co_await asio::this_coro::executor};
  co_await stream.async_connect(server, asio::use_awaitable);
  http::request<http::empty_body> request{http::verb::get, target, 11};
  request.set(http::field::host, "localhost");
  co_await http::async_write(stream, request, asio::use_awaitable);
  beast::flat_buffer memory;
  http::response<http::string_body> response;
  co_await http::async_read(stream, memory, response, asio::use_awaitable);
  co_return response.body();
}

asio::awaitable<void> demonstrate(tcp::endpoint server, stoker::Device device,
                                  tcp::acceptor& acceptor) {
  std::vector<double> lateness_ms;
  bool done = false;
  asio::co_spawn(co_await asio::this_coro::executor, watch_the_clock(lateness_ms, done),
                 asio::detached);
  constexpr int commands = 10'000;
  co_await submit_many(device, commands);
  std::cout << "GET /blur: " << co_await fetch(server, "/blur");
  std::cout << "GET /health: " << co_await fetch(server, "/health");
  done = true;
  std::ranges::sort(lateness_ms);
  const auto at = [&](double share) {
    return lateness_ms[static_cast<std::size_t>(share *
                                                static_cast<double>(lateness_ms.size() - 1))];
  };
  if (!lateness_ms.empty())
    std::cout << commands << " commands on " << device.name() << "; the 1 ms timer was late by p50 "
              << at(0.5) << " ms, p99 " << at(0.99) << " ms\n";
  acceptor.close();
}

}  // namespace

int main(int argc, char** argv) try {
  const bool demo = argc > 1 && std::string{argv[1]} == "--demo";
  asio::io_context loop{1};
  stoker::SystemOptions options;
  stoker::use_event_loop(options, loop.get_executor());
  const stoker::System system{options};
  const stoker::Device device = system.device();

  std::vector<float> noise(256 * 256);
  for (std::size_t i = 0; i < noise.size(); ++i)
    noise[i] = static_cast<float>((i * 2654435761U >> 7) % 256) / 255.0F;
  const stoker::Buffer image = device.buffer(noise, stoker::Shape{256, 256, 1});

  tcp::acceptor acceptor{loop, tcp::endpoint{asio::ip::address_v4::loopback(),
                                             static_cast<unsigned short>(demo ? 0 : 8080)}};
  std::cout << "serving on " << acceptor.local_endpoint() << " with " << device.name() << std::endl;
  asio::co_spawn(loop, listen(acceptor, device, image), [](const std::exception_ptr&) {});
  asio::signal_set signals{loop, SIGINT, SIGTERM};
  if (demo) {
    asio::co_spawn(loop, demonstrate(acceptor.local_endpoint(), device, acceptor),
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
