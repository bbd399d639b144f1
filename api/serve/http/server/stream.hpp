// The bytes of one connection, in the clear or over TLS.
//
// Threads: the strand of its socket, on which its user is told, too. One read and one write at a time. Handlers hold
// the user, which owns the stream.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <memory>

#include "stoker/api/serve/http/beast_message.hpp"
#include "stoker/api/serve/http/security/tls_certificate.hpp"

namespace stoker::serve::http {

/// Who is told what a stream has done.
class StreamUser {
 public:
  using error_code = boost::system::error_code;
  StreamUser() = default;
  StreamUser(const StreamUser&) = delete;
  StreamUser& operator=(const StreamUser&) = delete;
  virtual void has_opened(const error_code& failure) noexcept = 0;
  /// The failure is asio::error::eof if the client has said that it sends no more.
  virtual void has_read(const error_code& failure, std::size_t bytes) noexcept = 0;
  virtual void has_written(const error_code& failure) noexcept = 0;

 protected:
  ~StreamUser() = default;
};

class Stream {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using User = std::shared_ptr<StreamUser>;
  using Response = boost::beast::http::response_serializer<HttpAnswerBody>;

  Stream() = default;
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] virtual boost::asio::any_io_executor executor() = 0;
  /// Comes first: the handshake.
  virtual void open(User user) = 0;
  virtual void read(boost::asio::mutable_buffer into, User user) = 0;
  /// What is written lives until the user is told.
  virtual void write(Response& response, User user) = 0;
  virtual void write(boost::asio::const_buffer bytes, User user) = 0;
  /// Lets the client know that nothing more comes. The user is not told; it reads on until the client ends, too.
  virtual void end_writing(User user) = 0;
  virtual void close() noexcept = 0;
};

/// The socket's executor is a strand of its own.
[[nodiscard]] std::unique_ptr<Stream> plain_stream(Stream::Socket socket);
[[nodiscard]] std::unique_ptr<Stream> tls_stream(Stream::Socket socket,
                                                 const TlsCertificate& certificate);

}  // namespace stoker::serve::http
