// Accepts the connections of one address of an HTTP server.
//
// Threads: close() from any; all else on a strand. Lifetime: its handlers hold it while it is open.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <memory>

#include "stoker/api/serve/http/server/connection.hpp"

namespace stoker::serve::http {

class Listener {
 public:
  Listener() = default;
  virtual ~Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual void close() = 0;
};

/// Throws what HttpServer::listen() does. `port` becomes the one that is listened at.
[[nodiscard]] std::shared_ptr<Listener> listen_at(const boost::asio::any_io_executor& executor,
                                                  std::shared_ptr<const ConnectionHost> host,
                                                  const std::string& address, std::uint16_t& port);
[[nodiscard]] std::shared_ptr<Listener> listen_at(const boost::asio::any_io_executor& executor,
                                                  std::shared_ptr<const ConnectionHost> host,
                                                  const std::filesystem::path& path);

}  // namespace stoker::serve::http
