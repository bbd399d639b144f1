// The only source that compiles Beast's and Asio's templates for TLS.
#include <boost/asio/ssl/stream.hpp>

#include "stoker/api/serve/http/server/stream_of.hpp"

namespace stoker::serve::http {
namespace {

namespace ssl = boost::asio::ssl;

/// OpenSSL keeps the context for as long as a connection uses it, so one that was read again may go.
class TlsStream final : public StreamOf<ssl::stream<Stream::Socket>> {
 public:
  using StreamOf::StreamOf;

  void open(User user) override {
    next().async_handshake(ssl::stream_base::server,
                           [user = std::move(user)](const boost::system::error_code& failure) {
                             user->has_opened(failure);
                           });
  }
  void end_writing(User user) override {
    next().async_shutdown([user = std::move(user)](const boost::system::error_code&) {});
  }
  void close() noexcept override {
    boost::system::error_code ignored;
    next().next_layer().close(ignored);
  }
};

}  // namespace

std::unique_ptr<Stream> tls_stream(Stream::Socket socket, const TlsCertificate& certificate) {
  return std::make_unique<TlsStream>(std::move(socket), *certificate.context());
}

}  // namespace stoker::serve::http
