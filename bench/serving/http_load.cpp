#include "stoker/bench/serving/http_load.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace stoker::bench {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

tcp::endpoint loopback(std::uint16_t port) { return {asio::ip::address_v4::loopback(), port}; }

/// The bytes of the first answer with its body, if all of it has come.
struct Answer {
  std::size_t bytes = 0;
  std::size_t body = 0;
};
std::optional<Answer> answer_in(std::string_view text) {
  constexpr std::string_view mark = "\r\nContent-Length: ";  // not that of the JSON within
  const std::size_t head = text.find("\r\n\r\n");
  if (head == std::string_view::npos) return {};
  if (!text.starts_with("HTTP/1.1 200"))
    throw std::runtime_error{std::string{text.substr(0, head)}};
  const std::size_t at = text.find(mark);
  const std::size_t body =
      at < head ? std::stoul(std::string{text.substr(at + mark.size(), 12)}) : 0;
  if (text.size() < head + 4 + body) return {};
  return Answer{head + 4 + body, body};
}

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, std::size_t bytes) : socket_{std::move(socket)} {
    answer_.set(http::field::content_type, "application/json");
    answer_.body() = std::string(bytes, 'x');
    answer_.prepare_payload();
  }
  void read() {
    request_ = {};
    http::async_read(socket_, buffer_, request_,
                     [self = shared_from_this()](error_code failure, std::size_t) {
                       if (!failure) self->write();
                     });
  }

 private:
  void write() {
    http::async_write(socket_, answer_,
                      [self = shared_from_this()](error_code failure, std::size_t) {
                        if (!failure) self->read();
                      });
  }

  tcp::socket socket_;
  boost::beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> answer_{http::status::ok, 11};
};

/// A connection of load().
class Caller {
 public:
  Caller(asio::io_context& loop, std::uint16_t port, const std::string& request, std::size_t ahead,
         const bool& over)
      : socket_{loop}, ahead_{ahead}, over_{over} {
    for (std::size_t i = 0; i < ahead; ++i) requests_ += request;
    socket_.connect(loopback(port));
    socket_.set_option(tcp::no_delay{true});
  }
  void write() {
    left_ = ahead_;
    asio::async_write(socket_, asio::buffer(requests_), [this](error_code failure, std::size_t) {
      if (failure) throw boost::system::system_error{failure};
    });
    read();
  }
  [[nodiscard]] std::size_t answered() const noexcept { return answered_; }

 private:
  void read() {
    socket_.async_read_some(asio::buffer(bytes_), [this](error_code failure, std::size_t count) {
      if (failure) throw boost::system::system_error{failure};
      arrived_.append(bytes_.data(), count);
      std::size_t used = 0;
      while (const auto answer = answer_in(std::string_view{arrived_}.substr(used))) {
        used += answer->bytes;
        ++answered_;
        --left_;
      }
      arrived_.erase(0, used);
      if (left_ > 0) return read();
      if (!over_) write();
    });
  }

  tcp::socket socket_;
  const std::size_t ahead_;
  const bool& over_;
  std::string requests_;
  std::array<char, 16384> bytes_{};
  std::string arrived_;
  std::size_t left_ = 0;
  std::size_t answered_ = 0;
};

}  // namespace

class EchoServer::Acceptor : public std::enable_shared_from_this<EchoServer::Acceptor> {
 public:
  Acceptor(asio::io_context& loop, std::size_t bytes)
      : acceptor_{loop, loopback(0)}, bytes_{bytes} {}
  void accept() {
    acceptor_.async_accept([self = shared_from_this()](error_code failure, tcp::socket socket) {
      if (failure) return;
      socket.set_option(tcp::no_delay{true});
      std::make_shared<Session>(std::move(socket), self->bytes_)->read();
      self->accept();
    });
  }
  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  tcp::acceptor acceptor_;
  const std::size_t bytes_;
};

EchoServer::EchoServer(std::size_t answer_bytes)
    : acceptor_{std::make_shared<Acceptor>(thread_.loop(), answer_bytes)} {
  acceptor_->accept();
}
EchoServer::~EchoServer() = default;

std::uint16_t EchoServer::port() const { return acceptor_->port(); }

OneClient::OneClient(std::uint16_t port) : socket_{loop_} {
  socket_.connect(loopback(port));
  socket_.set_option(tcp::no_delay{true});
}

std::size_t OneClient::ask(const std::string& request) {
  asio::write(socket_, asio::buffer(request));
  std::array<char, 16384> bytes;
  for (;;) {
    if (const auto answer = answer_in(arrived_)) {
      arrived_.erase(0, answer->bytes);
      return answer->body;
    }
    arrived_.append(bytes.data(), socket_.read_some(asio::buffer(bytes)));
  }
}

double load(std::uint16_t port, const std::string& request, std::size_t connections,
            std::size_t ahead, double seconds) {
  asio::io_context loop{1};
  bool over = false;
  std::vector<std::unique_ptr<Caller>> callers;
  callers.reserve(connections);
  for (std::size_t i = 0; i < connections; ++i)
    callers.push_back(std::make_unique<Caller>(loop, port, request, ahead, over));
  for (const auto& caller : callers) caller->write();
  const auto start = std::chrono::steady_clock::now();
  loop.run_for(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>{seconds}));
  std::size_t count = 0;
  for (const auto& caller : callers) count += caller->answered();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  over = true;
  loop.restart();
  loop.run();  // what is on its way
  return static_cast<double>(count) / passed.count();
}

}  // namespace stoker::bench
