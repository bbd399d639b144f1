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
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>

#include "stoker/api/serve/http/beast_message.hpp"
#include "stoker/api/serve/http/security/client_limits.hpp"
#include "stoker/api/serve/http/server/body_budget.hpp"
#include "stoker/api/serve/http/server/connections.hpp"
#include "stoker/api/serve/http/server/request_reader.hpp"
#include "stoker/api/serve/http/server/server_options.hpp"
#include "stoker/api/serve/http/server/stream.hpp"

namespace stoker::serve::http {

/// What the connections of a server share.
struct ConnectionHost {
  ConnectionHost(const HttpService& answering, const HttpServerOptions& given)
      : service{answering}, options{given} {}

  const HttpService service;
  const HttpServerOptions options;
  mutable BodyBudget bodies{options.all_body_bytes};
  mutable ClientLimits clients{options.client_connections, options.client_rate};
  const std::shared_ptr<Connections> connections = std::make_shared<Connections>(service.counts());
  mutable std::atomic<bool> closed{false};  ///< further connections are closed at once
};

/// Where a connection comes from.
struct Origin {
  std::optional<ClientLimits::Place> client;  ///< nothing: it has too many connections
  bool is_local = false;                      ///< it came to a loopback address or a Unix socket
};

class Connection final : public StreamUser, public std::enable_shared_from_this<Connection> {
 public:
  /// The stream's executor is a strand of its own.
  Connection(std::unique_ptr<Stream> stream, std::shared_ptr<const ConnectionHost> host,
             Origin origin);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// `refused_with`: what it is answered before it asks, and closed. Null: it is served.
  void start(HttpAnswerPtr refused_with);
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
    explicit Exchange(BodyBudget& bodies) noexcept : body{bodies} {}

    RequestHead head = {};
    BodyBudget::Share body;  ///< of its request, until that is answered
    std::size_t bytes = 0;   ///< as they came
    bool complete = false;   ///< all of the request has come
    Future<HttpAnswerPtr> work = {};
    HttpAnswerPtr answer = {};
    Clock::time_point began = {};
    std::string method = {};  ///< for the log of answers, as `target`
    std::string target = {};
  };
  using ExchangePtr = std::shared_ptr<Exchange>;

  /// Answers so what was not asked yet, and nothing after it.
  void refuse(HttpAnswerPtr answer);
  void has_opened(const error_code& failure) noexcept override;
  void has_read(const error_code& failure, std::size_t bytes) noexcept override;
  void has_written(const error_code& failure) noexcept override;

  void read();
  [[nodiscard]] std::size_t may_read() const;
  void take_bytes();
  void take_part();
  void take_head();
  void take_request();
  /// Whether its client may ask now. Otherwise it is refused.
  [[nodiscard]] bool may_ask(Exchange& exchange) const;
  /// Whether its client has no right to ask, so that its body need not be read.
  [[nodiscard]] bool is_refused_unread();
  /// Whether there is memory for as much of the body as has come. Otherwise it is refused.
  [[nodiscard]] bool has_memory();
  void answered(Exchange& exchange, const Result<HttpAnswerPtr>& answer);
  /// Answers what came last so, and nothing after it.
  void take_refusal();
  void write();
  void write_continue();
  void written();
  void end_of_stream(const error_code& failure);
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
  const Origin origin_;
  const std::unique_ptr<Stream> stream_;
  boost::asio::steady_timer timer_;
  std::optional<Clock::time_point> armed_;
  boost::beast::flat_buffer buffer_;
  RequestReader reader_;
  std::deque<ExchangePtr> exchanges_;

  std::optional<HttpResponse> response_;
  std::optional<Stream::Response> serializer_;

  HttpAnswerPtr refused_with_;  ///< the connection, before it asks
  bool opened_ = false;
  bool reading_ = false;
  bool writing_ = false;
  bool writes_continue_ = false;  ///< 100 Continue
  bool no_more_ = false;          ///< no further requests are taken
  bool ended_ = false;            ///< the client sends no more
  bool draining_ = false;
  bool lingering_ = false;  ///< the last answer has been sent
  bool closed_ = false;
  bool paused_ = false;     ///< reading waits for an answer
  bool amid_head_ = false;  ///< bytes of a head have come
  Clock::time_point idle_since_ = Clock::now();
  Clock::time_point read_since_ = {};  ///< when the head or body that is read now began
  Clock::time_point write_since_ = {};
};

}  // namespace stoker::serve::http
