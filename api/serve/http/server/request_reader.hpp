// Requests from the bytes of one connection.
//
// What proxies and servers may read in different ways is refused: two lengths, a length beside a transfer encoding, any
// transfer encoding but "chunked", folded fields, a CR or LF alone, no Host or two of them. The lines of chunks and
// trailers are held to the same rules.
//
// A request for whose body there is no memory is refused with 503.
//
// Threads: one at a time. No call blocks or throws but std::bad_alloc.
#pragma once

#include <boost/beast/http/parser.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/api/serve/http/beast_message.hpp"
#include "stoker/api/serve/http/server/growing_body.hpp"
#include "stoker/api/serve/http/server/server_options.hpp"

namespace stoker::serve::http {

/// What the head of a request says about its connection and its answer.
struct RequestHead {
  ResponseForm form = {};
  bool wants_continue = false;  ///< Expect: 100-continue
};

class RequestReader {
 public:
  enum class Progress : std::uint8_t {
    more,      ///< all bytes that can be used are used
    head,      ///< the head is complete
    complete,  ///< the request is; take() it
    refused,   ///< the connection cannot go on after refused_with()
  };

  /// The options outlive it. `is_local`: of its questions.
  explicit RequestReader(const HttpServerOptions& options, bool is_local = false);
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  /// Reads on. `used` is the number of bytes that are not needed any more; the others must come again, with more of
  /// them if the progress is `more`.
  Progress read(std::string_view bytes, std::size_t& used);

  /// Whether bytes of a request have come that is not complete. `waiting`: the number of bytes that were not used.
  [[nodiscard]] bool is_amid(std::size_t waiting) const;
  [[nodiscard]] bool is_in_body() const noexcept { return has_head_; }
  /// Bytes of the body that have come.
  [[nodiscard]] std::size_t body_bytes() const;
  /// From Progress::head on: the bytes that the head says the body has; 0 for chunks.
  [[nodiscard]] std::uint64_t promised_bytes() const;
  [[nodiscard]] bool has_body() const { return parser_->chunked() || promised_bytes() > 0; }
  /// From Progress::head on.
  [[nodiscard]] const RequestHead& head() const noexcept { return head_; }
  /// From Progress::head on, without its body. Empty for a head that could not be read.
  [[nodiscard]] const HttpQuestion& question() const noexcept { return question_; }
  /// The complete request; the reader is ready for the next one.
  [[nodiscard]] HttpQuestion take();
  /// Null unless refused. No further bytes are read.
  [[nodiscard]] const HttpAnswerPtr& refused_with() const noexcept { return refused_with_; }
  Progress refuse(unsigned status, std::string_view reason);
  Progress refuse(HttpAnswerPtr answer);

 private:
  using Parser = boost::beast::http::request_parser<GrowingBody>;

  /// What Beast tells of the lines of chunks.
  struct ChunkLines {
    void operator()(std::uint64_t size, boost::beast::string_view extensions,
                    boost::beast::error_code& failure);
    const char* end_of_last = nullptr;  ///< of the last chunk's line; behind it are the trailers
  };

  void restart();
  std::size_t put(std::string_view bytes, boost::beast::error_code& failure);
  Progress complete(const char* end);
  Progress refuse(boost::beast::error_code failure);
  Progress read_head(std::string_view bytes, std::size_t& used);
  Progress take_head();
  /// For whoever answers or logs the request, also if it is refused.
  void note_head();

  const HttpServerOptions& options_;
  const bool is_local_;
  std::optional<Parser> parser_;
  ChunkLines chunks_;
  std::size_t searched_ = 0;  ///< bytes of the head that were looked at
  bool has_head_ = false;
  RequestHead head_;
  HttpQuestion question_;
  HttpAnswerPtr refused_with_;
};

}  // namespace stoker::serve::http
