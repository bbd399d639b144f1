// Questions from messages of Boost.Beast, and answers as messages.
//
// Functions; any thread. Nothing of a body is copied for an answer: the message shares it.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional.hpp>
#include <cstdint>
#include <utility>

#include "stoker/api/serve/http/http_service.hpp"

namespace stoker {

/// The body of a message that shares an answer.
struct HttpAnswerBody {
  struct value_type {
    HttpAnswerPtr answer = {};
    bool silent = false;  ///< the answer to HEAD has no body
  };
  static std::uint64_t size(const value_type& value) noexcept {
    return value.answer && !value.silent ? value.answer->body.size() : 0;
  }
  /// What Beast asks of the writer of a body.
  class writer {
   public:
    using const_buffers_type = boost::asio::const_buffer;
    template <bool isRequest, class Fields>
    writer(const boost::beast::http::header<isRequest, Fields>&, const value_type& value) noexcept
        : value_{value} {}
    void init(boost::beast::error_code& failure) noexcept { failure = {}; }
    boost::optional<std::pair<const_buffers_type, bool>> get(
        boost::beast::error_code& failure) noexcept {
      failure = {};
      const std::size_t bytes = size(value_);
      if (bytes == 0) return boost::none;
      return std::pair{const_buffers_type{value_.answer->body.data(), bytes}, false};
    }

   private:
    const value_type& value_;
  };
};
using HttpResponse = boost::beast::http::response<HttpAnswerBody>;

namespace serve::http {

/// What of a request the response depends on.
struct ResponseForm {
  unsigned version = 11;
  bool keep_alive = true;
  bool is_head = false;
};
/// Content-Length is the body's, also for HEAD. A null answer is 500.
[[nodiscard]] HttpResponse response_of(HttpAnswerPtr answer, const ResponseForm& form);

/// All but the body.
[[nodiscard]] HttpQuestion question_of(
    const boost::beast::http::request_header<boost::beast::http::fields>& header);

/// The service's answer as a response. cancel() on the future cancels the inference.
[[nodiscard]] Future<HttpResponse> respond(const HttpService& service, HttpQuestion question,
                                           const ResponseForm& form);

}  // namespace serve::http
}  // namespace stoker
