// An HTTP/1.1 server for a service of models, on an event loop of the program.
//
//     HttpServer server{loop.get_executor(), service};
//     const std::uint16_t port = server.listen("127.0.0.1", 0);
//     …
//     server.drain(30s).get();      // on another thread; or co_await async_get(server.drain(30s))
//
// With HttpServerOptions::tls it speaks TLS, but for Unix sockets. HttpServiceOptions::tokens say who may ask.
//
// Connections are kept alive. Requests that a client sends ahead run together and are answered in their order. A client
// that goes away cancels its requests. Bodies may be chunked; `Expect: 100-continue` is answered.
//
// Threads: a handle; any thread may call, no call blocks but listen() with a name to resolve, and there is no thread of
// its own. If several threads run the loop, connections are served side by side. Lifetime: the destructor closes the
// server; its sockets end on the loop. A loop that is destroyed first takes all connections with it.
//
// Errors: listen() throws already_exists (the port is taken, another server listens on the socket, or its path is a
// file of another kind), not_found (no such address), permission_denied, invalid_argument (the path is too long),
// io_error for everything else, and closed after drain() or close().
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "stoker/api/serve/http/http_service.hpp"
#include "stoker/api/serve/http/server/server_options.hpp"

namespace stoker {

namespace serve::http {
class ServerCore;
}  // namespace serve::http

class HttpServer {
 public:
  /// Throws invalid_argument for limits of 0, and for heads of 4 GiB.
  HttpServer(const boost::asio::any_io_executor& executor, const HttpService& service,
             const HttpServerOptions& options = {});
  ~HttpServer();
  HttpServer(HttpServer&&) noexcept = default;
  HttpServer& operator=(HttpServer&&) = delete;

  /// Accepts connections from now on, at an address such as "127.0.0.1", "::1" or "0.0.0.0"; 0 is any free port.
  /// Returns the port. May be called for several addresses.
  std::uint16_t listen(const std::string& address, std::uint16_t port) const;
  /// The same at a Unix socket, which is removed at the end. A socket at which nobody listens any more is replaced.
  void listen(const std::filesystem::path& path) const;

  /// Open connections.
  [[nodiscard]] std::size_t connections() const;

  /// Ends in good order: the service is not ready, nobody can connect, requests that have come are answered. After
  /// `patience` the others are cancelled and answered with 503. Ready when all connections are closed.
  Future<void> drain(std::chrono::nanoseconds patience) const;
  /// Ends at once: all requests are cancelled, without answers.
  void close() const;

 private:
  std::shared_ptr<serve::http::ServerCore> core_;
};

}  // namespace stoker
