// Options of an HTTP server (http_server.hpp).
//
// Values. Threads: as values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "stoker/api/serve/http/exchange.hpp"

namespace stoker {

class TlsCertificate;  // api/serve/http/security/tls_certificate.hpp

/// One answer, for an access log.
struct HttpAccess {
  /// Empty, as `target`, for a connection that was refused before a request.
  std::string_view method = {};
  std::string_view target = {};
  unsigned status = 0;
  std::uint64_t body_bytes = 0;  ///< of the answer
  std::chrono::nanoseconds taken = {};
  const HttpInference* inference = nullptr;  ///< null: it was no inference request
};

struct HttpServerOptions {
  /// With it, all but Unix sockets is TLS. Null: nothing is.
  std::shared_ptr<const TlsCertificate> tls = {};
  std::size_t header_bytes = std::size_t{16}
                             << 10;  ///< of the request line and all fields; beyond it 431
  std::size_t target_bytes = std::size_t{8} << 10;     ///< of the target; beyond it 414
  std::uint64_t body_bytes = std::uint64_t{64} << 20;  ///< of a body; beyond it 413
  /// Of the bodies of all connections together, until each is answered; beyond it 503.
  std::uint64_t all_body_bytes = std::uint64_t{1} << 30;
  std::size_t connections = 1024;  ///< further ones are answered with 503 and closed
  /// Limits of one client, which is an address; clients of a Unix socket have none. Beyond them 429. 0: there is none.
  std::size_t client_connections = 0;
  double client_rate = 0;  ///< requests a second; as many may come at once
  /// Requests of a connection that are read while an earlier one is not answered yet. They run together.
  std::size_t requests_ahead = 16;
  /// Bytes that are read from a connection while an earlier request is not answered yet. Reading on is how the server
  /// notices that a client has gone.
  std::size_t bytes_ahead = std::size_t{64} << 10;
  /// From a request's first byte; then 408. A handshake has as long.
  std::chrono::nanoseconds header_timeout = std::chrono::seconds{10};
  /// A body has this long, and for each `least_rate` bytes of it a second more; then 408. An answer likewise; then the
  /// connection is closed.
  std::chrono::nanoseconds body_timeout = std::chrono::seconds{30};
  std::uint64_t least_rate = std::uint64_t{16} << 10;
  std::chrono::nanoseconds idle_timeout = std::chrono::seconds{60};  ///< without a request
  /// How long a client may send on after the last answer of its connection, so that it can read that answer.
  std::chrono::nanoseconds linger = std::chrono::seconds{1};
  /// Whether a client that ends its sending side is still answered. If not, it counts as gone, as with nginx.
  bool half_close = false;
  /// Called for each answer that was sent, on the connection's strand; must be quick. Null: nothing.
  std::function<void(const HttpAccess&)> on_answer = {};
};

}  // namespace stoker
