// Clients and a bare server for benchmarks over HTTP.
//
// Threads: each object is used by one thread; EchoServer and LoopThread have a thread of their own.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace stoker::bench {

/// An event loop that runs until the end.
class LoopThread {
 public:
  LoopThread() : thread_{[this] { loop_.run(); }} {}
  ~LoopThread() { loop_.stop(); }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;
  [[nodiscard]] boost::asio::io_context& loop() noexcept { return loop_; }

 private:
  boost::asio::io_context loop_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      loop_.get_executor()};
  std::jthread thread_;
};

/// A bare server of Boost.Beast: reads a request with its body, and answers each with a body of so many bytes.
class EchoServer {
 public:
  explicit EchoServer(std::size_t answer_bytes);
  ~EchoServer();
  EchoServer(const EchoServer&) = delete;
  EchoServer& operator=(const EchoServer&) = delete;
  [[nodiscard]] std::uint16_t port() const;

 private:
  class Acceptor;
  LoopThread thread_;
  std::shared_ptr<Acceptor> acceptor_;
};

/// One connection; one request at a time, on the calling thread.
class OneClient {
 public:
  explicit OneClient(std::uint16_t port);
  /// The number of bytes of the answer's body.
  std::size_t ask(const std::string& request);

 private:
  boost::asio::io_context loop_;
  boost::asio::ip::tcp::socket socket_;
  std::string arrived_;
};

/// So many connections, each of which sends `ahead` requests at once, and the next ones when all of these are answered.
/// Returns answers a second.
[[nodiscard]] double load(std::uint16_t port, const std::string& request, std::size_t connections,
                          std::size_t ahead, double seconds);

}  // namespace stoker::bench
