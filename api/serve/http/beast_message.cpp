#include "stoker/api/serve/http/beast_message.hpp"

#include <boost/beast/http/message.hpp>

namespace stoker::serve::http {
namespace {

namespace beast = boost::beast::http;

std::string text_of(const beast::request_header<beast::fields>& header, beast::field field) {
  return std::string{header[field]};
}

}  // namespace

HttpResponse response_of(HttpAnswerPtr answer, const ResponseForm& form) {
  if (!answer) answer = std::make_shared<const HttpAnswer>(HttpAnswer{.status = 500});
  HttpResponse response{beast::int_to_status(answer->status), form.version};
  response.result(answer->status);
  response.set(beast::field::server, "stoker");
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
          .json_bytes = std::string{header["Inference-Header-Content-Length"]},
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
