#include "stoker/api/serve/http/beast_message.hpp"

#include <array>
#include <boost/beast/http/message.hpp>
#include <ctime>
#include <iomanip>
#include <locale>
#include <sstream>

namespace stoker::serve::http {
namespace {

namespace beast = boost::beast::http;

/// The values of all lines of that name: whoever reads only the first one of two may read another body.
template <class Name>
std::string text_of(const beast::request_header<beast::fields>& header, Name name) {
  std::string text;
  const auto [first, last] = header.equal_range(name);
  for (auto line = first; line != last; ++line) {
    if (line != first) text += ", ";
    text += line->value();
  }
  return text;
}

/// As RFC 9110 has it: "Sun, 06 Nov 1994 08:49:37 GMT".
std::string date_of(std::time_t time) {
  static constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm at{};
  gmtime_r(&time, &at);
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << days.at(static_cast<std::size_t>(at.tm_wday)) << std::put_time(&at, ", %d ")
       << months.at(static_cast<std::size_t>(at.tm_mon)) << std::put_time(&at, " %Y %H:%M:%S GMT");
  return text.str();
}

/// Made once a second.
const std::string& date_now() {
  thread_local std::time_t made = 0;
  thread_local std::string text;
  const std::time_t now = std::time(nullptr);
  if (now == made) return text;
  text = date_of(now);
  made = now;
  return text;
}

}  // namespace

HttpResponse response_of(HttpAnswerPtr answer, const ResponseForm& form) {
  if (!answer) answer = std::make_shared<const HttpAnswer>(HttpAnswer{.status = 500});
  HttpResponse response{beast::int_to_status(answer->status), form.version};
  response.result(answer->status);
  response.set(beast::field::server, "stoker");
  response.set(beast::field::date, date_now());
  if (!answer->content_type.empty()) response.set(beast::field::content_type, answer->content_type);
  for (const auto& [name, value] : answer->headers) response.set(name, value);
  response.content_length(answer->body.size());
  response.keep_alive(form.keep_alive);
  response.body() = {std::move(answer), form.is_head};
  return response;
}

HttpQuestion question_of(const beast::request_header<beast::fields>& header) {
  return {.method = std::string{header.method_string()},
          .target = std::string{header.target()},
          .content_type = text_of(header, beast::field::content_type),
          .content_encoding = text_of(header, beast::field::content_encoding),
          .json_bytes = text_of(header, "Inference-Header-Content-Length"),
          .accept_encoding = text_of(header, beast::field::accept_encoding),
          .authorization = text_of(header, beast::field::authorization),
          .traceparent = text_of(header, "traceparent"),
          .body = {}};
}

Future<HttpResponse> respond(const HttpService& service, HttpQuestion question,
                             const ResponseForm& form) {
  return service.answer(std::move(question))
      .then(service.executor(),
            [form](const Result<HttpAnswerPtr>& answer) -> Result<HttpResponse> {
              if (!answer) return answer.error();
              return response_of(*answer, form);
            });
}

}  // namespace stoker::serve::http
