#include "stoker/api/serve/http/server/stream_of.hpp"

namespace stoker::serve::http {
namespace {

class PlainStream final : public StreamOf<Stream::Socket> {
 public:
  using StreamOf::StreamOf;

  void open(User user) override { user->has_opened({}); }
  void end_writing(User) override {
    boost::system::error_code ignored;
    next().shutdown(Socket::shutdown_send, ignored);
  }
  void close() noexcept override {
    boost::system::error_code ignored;
    next().close(ignored);
  }
};

}  // namespace

std::unique_ptr<Stream> plain_stream(Stream::Socket socket) {
  return std::make_unique<PlainStream>(std::move(socket));
}

}  // namespace stoker::serve::http
