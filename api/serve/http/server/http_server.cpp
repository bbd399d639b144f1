#include "stoker/api/serve/http/server/http_server.hpp"

#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "stoker/api/serve/http/server/connection.hpp"
#include "stoker/api/serve/http/server/contained.hpp"
#include "stoker/api/serve/http/server/listener.hpp"
#include "stoker/runtime/asio/asio_end.hpp"
#include "stoker/runtime/asio/future_asio.hpp"

namespace stoker {
namespace serve::http {

/// What is longer is as good as for ever, and the clock could not count to its end.
constexpr std::chrono::nanoseconds longest = std::chrono::hours{24 * 365};

class ServerCore final : public AsioEnd, public std::enable_shared_from_this<ServerCore> {
 public:
  ServerCore(boost::asio::any_io_executor executor, const HttpService& service,
             const HttpServerOptions& options)
      : executor_{std::move(executor)},
        host_{std::make_shared<const ConnectionHost>(service, options)} {}

  template <class... Place> void listen(Place&&... place) {
    const std::lock_guard lock{mutex_};
    if (ended_) throw Error{"http_server", ErrorCode::closed, "the server has ended"};
    listeners_.push_back(listen_at(executor_, host_, std::forward<Place>(place)...));
  }
  [[nodiscard]] std::size_t connections() const { return host_->connections->count(); }

  Future<void> drain(std::chrono::nanoseconds patience) {
    host_->service.drain();
    end_listening();
    for (const auto& connection : host_->connections->all()) connection->drain();
    Future<void> none = host_->connections->when_none();
    const std::lock_guard lock{mutex_};
    if (none.ready() || gone_) return none;
    refuse_rest_at(std::chrono::steady_clock::now() + std::min(patience, longest), none);
    return none;
  }

  void close() noexcept {
    host_->closed.store(true);
    contained("http server close", [this] {
      end_listening();
      for (const auto& connection : host_->connections->all())
        contained("http connection close", [&] { connection->close(); });
    });
  }

 private:
  using Timer = boost::asio::steady_timer;

  void end_listening() {
    std::vector<std::shared_ptr<Listener>> listeners;
    {
      const std::lock_guard lock{mutex_};
      ended_ = true;
      listeners = std::exchange(listeners_, {});
    }
    for (const auto& listener : listeners) listener->close();
  }

  /// The timer is used on a strand, and ends with the last connection, so that it does not keep the loop.
  void refuse_rest_at(Timer::time_point time, const Future<void>& none) {
    const auto timer = std::make_shared<Timer>(boost::asio::make_strand(executor_), time);
    async_wait(none, boost::asio::bind_executor(timer->get_executor(),
                                                [timer](const Result<void>&) { timer->cancel(); }));
    timer->async_wait([self = shared_from_this(), timer](boost::system::error_code failure) {
      if (failure) return;
      const bool told = contained("http server end", [&] {
        for (const auto& connection : self->host_->connections->all()) connection->refuse_rest();
        // Clients that do not read their answers are not waited for.
        timer->expires_after(2 * self->host_->options.linger);
        timer->async_wait([self, timer](boost::system::error_code stopped) {
          if (!stopped) self->close();
        });
      });
      if (!told) self->close();
    });
  }

  void context_ends() noexcept override {
    std::vector<std::shared_ptr<Listener>> listeners;  // they must not outlive the context
    const std::lock_guard lock{mutex_};
    ended_ = true;
    gone_ = true;
    listeners = std::exchange(listeners_, {});
  }

  const boost::asio::any_io_executor executor_;
  const std::shared_ptr<const ConnectionHost> host_;
  std::mutex mutex_;  // of what follows
  bool ended_ = false;
  bool gone_ = false;  ///< the execution context is
  std::vector<std::shared_ptr<Listener>> listeners_;
};

namespace {

HttpServerOptions checked(HttpServerOptions options) {
  const auto require = [](std::uint64_t limit, const char* name) {
    if (limit == 0)
      throw Error{"http_server",
                  ErrorCode::invalid_argument,
                  std::string{name} + " must be at least 1",
                  {{"option", name}}};
  };
  constexpr std::uint64_t most_header_bytes = std::numeric_limits<std::uint32_t>::max() - 1;
  require(options.header_bytes, "header_bytes");
  if (options.header_bytes > most_header_bytes)
    throw Error{"http_server",
                ErrorCode::invalid_argument,
                "header_bytes must be at most " + std::to_string(most_header_bytes),
                {{"option", "header_bytes"}}};
  require(options.target_bytes, "target_bytes");
  require(options.body_bytes, "body_bytes");
  require(options.all_body_bytes, "all_body_bytes");
  require(options.connections, "connections");
  if (!(options.client_rate >= 0))
    throw Error{"http_server",
                ErrorCode::invalid_argument,
                "client_rate must be at least 0",
                {{"option", "client_rate"}}};
  require(options.bytes_ahead, "bytes_ahead");
  require(options.least_rate, "least_rate");
  for (auto* const time :
       {&options.header_timeout, &options.body_timeout, &options.idle_timeout, &options.linger})
    *time = std::min(*time, longest);
  return options;
}

}  // namespace
}  // namespace serve::http

HttpServer::HttpServer(const boost::asio::any_io_executor& executor, const HttpService& service,
                       const HttpServerOptions& options)
    : core_{std::make_shared<serve::http::ServerCore>(executor, service,
                                                      serve::http::checked(options))} {
  watch_end(executor, core_);
}

HttpServer::~HttpServer() {
  if (core_) core_->close();
}

std::uint16_t HttpServer::listen(const std::string& address, std::uint16_t port) const {
  core_->listen(address, port);
  return port;
}

void HttpServer::listen(const std::filesystem::path& path) const { core_->listen(path); }

std::size_t HttpServer::connections() const { return core_->connections(); }

Future<void> HttpServer::drain(std::chrono::nanoseconds patience) const {
  return core_->drain(patience);
}

void HttpServer::close() const { core_->close(); }

}  // namespace stoker
