// One connection of an HTTP server: requests come in, answers go out in their order.
//
//     reading ─▶ RequestReader ─▶ exchanges, the oldest first ─▶ writing
//
// Requests that are read while an earlier one is not answered run together with it. The connection is read on all the
// time, up to `bytes_ahead`, so that it notices when the client goes: then all of its work is cancelled.
//
// Threads: start(), drain(), refuse_rest() and close() from any; all else runs on the socket's strand. Lifetime: it
// lives while the socket is open; its handlers hold it.
#pragma once

#include <atomic>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/serializer.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>

#include "stoker/api/serve/http/beast_message.hpp"
#include "stoker/api/serve/http/server/connections.hpp"
#include "stoker/api/serve/http/server/request_reader.hpp"
#include "stoker/api/serve/http/server/server_options.hpp"

namespace stoker::serve::http {

/// What the connections of a server share.
struct ConnectionHost {
  ConnectionHost(const HttpService& answering, const HttpServerOptions& given)
      : service{answering}, options{given} {}

  const HttpService service;
  const HttpServerOptions options;
  const std::shared_ptr<Connections> connections = std::make_shared<Connections>(service.counts());
  mutable std::atomic<bool> closed{false};  ///< further connections are closed at once
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;

  /// The socket's executor is a strand of its own.
  Connection(Socket socket, std::shared_ptr<const ConnectionHost> host);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// `is_one_too_many`: it is answered with 503 and closed.
  void start(bool is_one_too_many);
  /// Answers the requests that have come, and closes.
  void drain();
  /// Cancels what runs, answers it with 503, and closes.
  void refuse_rest();
  /// Cancels what runs, and closes at once.
  void close();

 private:
  using Clock = std::chrono::steady_clock;

  /// A request and its answer.
  struct Exchange {
    RequestHead head = {};
    std::size_t bytes = 0;  ///< as they came
    bool complete = false;  ///< all of the request has come
    Future<HttpAnswerPtr> work = {};
    HttpAnswerPtr answer = {};
    Clock::time_point began = {};
    std::string method = {};  ///< for the log of answers, as `target`
    std::string target = {};
  };
  using ExchangePtr = std::shared_ptr<Exchange>;

  void read();
  [[nodiscard]] std::size_t may_read() const;
  void take_bytes();
  void take_part();
  void take_head();
  void take_request();
  void answered(Exchange& exchange, const Result<HttpAnswerPtr>& answer);
  /// Answers what came last so, and nothing after it.
  void take_refusal();
  void write();
  void write_continue();
  void written(boost::system::error_code failure);
  void end_of_stream(boost::system::error_code failure);
  /// Whether it is draining, and nothing that has come is left to answer.
  [[nodiscard]] bool is_drained() const;
  void linger();
  void abandon() noexcept;

  [[nodiscard]] bool is_receiving() const {
    return !exchanges_.empty() && !exchanges_.back()->complete;
  }
  [[nodiscard]] std::optional<Clock::time_point> due() const;
  void arm();
  void expire();
  /// On the strand, later.
  template <class F> void run(F function);
  /// Closes the connection if the function throws.
  template <class F> void guard(F&& function) noexcept;

  const std::shared_ptr<const ConnectionHost> host_;
  const HttpServerOptions& options_;
  Socket socket_;
  boost::asio::steady_timer timer_;
  std::optional<Clock::time_point> armed_;
  boost::beast::flat_buffer buffer_;
  RequestReader reader_;
  std::deque<ExchangePtr> exchanges_;

  std::optional<HttpResponse> response_;
  std::optional<boost::beast::http::response_serializer<HttpAnswerBody>> serializer_;

  bool reading_ = false;
  bool writing_ = false;
  bool no_more_ = false;  ///< no further requests are taken
  bool ended_ = false;    ///< the client sends no more
  bool draining_ = false;
  bool lingering_ = false;  ///< the last answer has been sent
  bool closed_ = false;
  bool one_too_many_ = false;
  bool paused_ = false;     ///< reading waits for an answer
  bool amid_head_ = false;  ///< bytes of a head have come
  Clock::time_point idle_since_ = Clock::now();
  Clock::time_point read_since_ = {};  ///< when the head or body that is read now began
  Clock::time_point write_since_ = {};
};

}  // namespace stoker::serve::http
