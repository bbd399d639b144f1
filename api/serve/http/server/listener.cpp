#include "stoker/api/serve/http/server/listener.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <thread>
#include <type_traits>
#include <utility>

#include "stoker/api/serve/http/answers.hpp"
#include "stoker/api/serve/http/server/contained.hpp"

namespace stoker::serve::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Local = asio::local::stream_protocol;

[[noreturn]] void refuse(const error_code& failure, const std::string& where) {
  namespace error = asio::error;
  ErrorCode code = ErrorCode::io_error;
  if (failure == error::address_in_use) code = ErrorCode::already_exists;
  if (failure == error::access_denied) code = ErrorCode::permission_denied;
  if (failure == boost::system::errc::address_not_available) code = ErrorCode::not_found;
  throw Error{"http_server",
              code,
              "cannot listen at " + where + ": " + failure.message(),
              {{"address", where}}};
}

/// The client whose address it is (ClientLimits).
std::string name_of(const asio::ip::address& address) {
  if (address.is_v4()) return address.to_string();
  const asio::ip::address_v6 long_one = address.to_v6();
  if (long_one.is_v4_mapped())
    return asio::ip::make_address_v4(asio::ip::v4_mapped, long_one).to_string();
  const auto bytes = long_one.to_bytes();
  return {bytes.begin(), bytes.begin() + 8};
}

template <class Protocol>
class Acceptor final : public Listener, public std::enable_shared_from_this<Acceptor<Protocol>> {
 public:
  using Endpoint = typename Protocol::endpoint;

  Acceptor(const asio::any_io_executor& executor, std::shared_ptr<const ConnectionHost> host)
      : executor_{executor},
        host_{std::move(host)},
        strand_{asio::make_strand(executor)},
        acceptor_{strand_},
        timer_{strand_} {}
  ~Acceptor() override { remove_file(); }

  [[nodiscard]] error_code open(const Endpoint& endpoint) {
    error_code failure;
    acceptor_.open(endpoint.protocol(), failure);
    if (!failure && std::is_same_v<Protocol, tcp>)
      acceptor_.set_option(asio::socket_base::reuse_address{true}, failure);
    if (!failure) acceptor_.bind(endpoint, failure);
    if (!failure) acceptor_.listen(asio::socket_base::max_listen_connections, failure);
    if (failure) acceptor_.close();
    return failure;
  }
  [[nodiscard]] Endpoint endpoint() const { return acceptor_.local_endpoint(); }
  void set_file(std::filesystem::path file) { file_ = std::move(file); }

  void start() {
    asio::post(strand_, [self = this->shared_from_this()] { self->accept(); });
  }
  void close() override {
    asio::post(strand_, [self = this->shared_from_this()] {
      error_code ignored;
      self->acceptor_.close(ignored);
      self->timer_.cancel(ignored);
      self->remove_file();
    });
  }

 private:
  void accept() {
    if (!acceptor_.is_open()) return;
    const bool accepts = contained("http accept", [this] {
      acceptor_.async_accept(asio::any_io_executor{asio::make_strand(executor_)},
                             [self = this->shared_from_this()](error_code failure, auto socket) {
                               if (!self->acceptor_.is_open()) return;
                               if (failure) return self->accept_later();
                               self->take(std::move(socket));
                               self->accept();
                             });
    });
    if (!accepts) accept_later();
  }
  /// There are no more descriptors, or there is no more memory, most likely.
  void accept_later() {
    const auto wait = [this] {
      timer_.expires_after(std::chrono::milliseconds{50});
      timer_.async_wait([self = this->shared_from_this()](error_code failure) {
        if (!failure) self->accept();
      });
    };
    // A listener that gives up would never be missed, so it does not.
    while (!contained("http accept", wait)) std::this_thread::yield();
  }
  template <class Socket> void take(Socket socket) {
    contained("http connection refused", [&] {
      error_code ignored;
      if constexpr (std::is_same_v<Protocol, tcp>) socket.set_option(tcp::no_delay{true}, ignored);
      Origin origin = origin_of(socket);
      HttpAnswerPtr refused;
      const bool is_beyond_own = !origin.client;
      if (is_beyond_own) refused = too_many("this client has too many connections");
      const auto connection =
          std::make_shared<Connection>(stream_of(std::move(socket)), host_, std::move(origin));
      const std::size_t most = host_->options.connections;
      const std::size_t count = host_->connections->add(connection);
      // Some of those beyond the limit are told; under a flood, closing must do.
      if (count > most) refused = unavailable("too many connections");
      // Who has more than its own share takes no more than half of what there is for all: to be told takes time.
      if (count <= (is_beyond_own ? most / 2 : most + most / 8 + 8))
        connection->start(std::move(refused));
      // The server may have ended since, and not have seen this one.
      if (host_->service.is_draining()) connection->drain();
      if (host_->closed.load()) connection->close();
    });
  }
  /// Who is on this machine needs no encryption, so a Unix socket has none.
  [[nodiscard]] std::unique_ptr<Stream> stream_of(typename Protocol::socket socket) const {
    const auto& certificate = host_->options.tls;
    if (certificate && std::is_same_v<Protocol, tcp>)
      return tls_stream(std::move(socket), *certificate);
    return plain_stream(std::move(socket));
  }
  [[nodiscard]] Origin origin_of(const typename Protocol::socket& socket) const {
    const auto now = ClientLimits::Clock::now();
    if constexpr (std::is_same_v<Protocol, tcp>) {
      error_code unknown;
      const tcp::endpoint client = socket.remote_endpoint(unknown);
      const tcp::endpoint here = socket.local_endpoint(unknown);
      return {host_->clients.enter(name_of(client.address()), now), here.address().is_loopback()};
    } else {
      return {host_->clients.enter({}, now), true};
    }
  }
  void remove_file() noexcept {
    std::error_code ignored;
    if (!file_.empty()) std::filesystem::remove(file_, ignored);
    file_.clear();
  }

  const asio::any_io_executor executor_;
  const std::shared_ptr<const ConnectionHost> host_;
  const asio::any_io_executor strand_;
  typename Protocol::acceptor acceptor_;
  asio::steady_timer timer_;
  std::filesystem::path file_;
};

/// Whether it is a socket at which nobody listens any more. To connect to a file of another kind is refused as well.
bool is_left_over(const asio::any_io_executor& executor, const Local::endpoint& endpoint) {
  std::error_code unknown;
  if (!std::filesystem::is_socket(endpoint.path(), unknown)) return false;
  Local::socket socket{executor};
  error_code failure;
  socket.connect(endpoint, failure);
  return failure == asio::error::connection_refused;
}

}  // namespace

std::shared_ptr<Listener> listen_at(const asio::any_io_executor& executor,
                                    std::shared_ptr<const ConnectionHost> host,
                                    const std::string& address, std::uint16_t& port) {
  const std::string where = address + ":" + std::to_string(port);
  error_code failure;
  const asio::ip::address known = asio::ip::make_address(address, failure);
  tcp::endpoint endpoint{known, port};
  if (failure) {
    tcp::resolver resolver{executor};
    const auto found = resolver.resolve(address, std::to_string(port), failure);
    if (failure || found.empty())
      throw Error{"http_server",
                  ErrorCode::not_found,
                  "there is no address '" + address + "'",
                  {{"address", address}}};
    endpoint = found.begin()->endpoint();
  }
  auto acceptor = std::make_shared<Acceptor<tcp>>(executor, std::move(host));
  if (const error_code refused = acceptor->open(endpoint)) refuse(refused, where);
  port = acceptor->endpoint().port();
  acceptor->start();
  return acceptor;
}

std::shared_ptr<Listener> listen_at(const asio::any_io_executor& executor,
                                    std::shared_ptr<const ConnectionHost> host,
                                    const std::filesystem::path& path) {
  const std::string where = path.string();
  Local::endpoint endpoint;
  try {
    endpoint.path(where);
  } catch (const boost::system::system_error&) {
    throw Error{"http_server",
                ErrorCode::invalid_argument,
                "the path of a socket is too long",
                {{"path", where}}};
  }
  auto acceptor = std::make_shared<Acceptor<Local>>(executor, std::move(host));
  error_code failure = acceptor->open(endpoint);
  if (failure == asio::error::address_in_use && is_left_over(executor, endpoint)) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    failure = acceptor->open(endpoint);
  }
  if (failure) refuse(failure, where);
  acceptor->set_file(path);
  acceptor->start();
  return acceptor;
}

}  // namespace stoker::serve::http
