#include "stoker/api/serve/http/answers.hpp"

#include "stoker/api/serve/calls/call_failure.hpp"
#include "stoker/api/serve/protocol/metadata.hpp"

namespace stoker::serve::http {
namespace {

constexpr unsigned client_gone = 499;  // as nginx has it; nobody reads the answer

HttpAnswerPtr come_again(unsigned status, std::string_view reason, unsigned after_s) {
  return std::make_shared<const HttpAnswer>(
      HttpAnswer{.status = status,
                 .content_type = "application/json",
                 .headers = {{"Retry-After", std::to_string(after_s)}},
                 .body = protocol::error_body(reason)});
}

HttpAnswerPtr answer_of(const CallFailure& failure) {
  switch (failure.kind) {
    case CallFailure::Kind::refused: return refusal(400, failure.text);
    case CallFailure::Kind::too_large: return refusal(413, failure.text);
    case CallFailure::Kind::unavailable:  // Retry-After has whole seconds
      return unavailable(failure.text, failure.retry_after_ms / 1000 + 1);
    case CallFailure::Kind::deadline: return refusal(504, failure.text);
    case CallFailure::Kind::cancelled: return refusal(client_gone, failure.text);
    case CallFailure::Kind::failed: break;
  }
  return refusal(500, failure.text);
}

}  // namespace

HttpAnswerPtr json_answer(std::string body, unsigned status) {
  return std::make_shared<const HttpAnswer>(HttpAnswer{.status = status,
                                                       .content_type = "application/json",
                                                       .headers = {},
                                                       .body = std::move(body)});
}

HttpAnswerPtr refusal(unsigned status, std::string_view reason) {
  return json_answer(protocol::error_body(reason), status);
}

HttpAnswerPtr unavailable(std::string_view reason, unsigned retry_after_s) {
  return come_again(503, reason, retry_after_s);
}

HttpAnswerPtr too_many(std::string_view reason, unsigned retry_after_s) {
  return come_again(429, reason, retry_after_s);
}

HttpAnswerPtr refused(const Error& error, std::string_view model) {
  return answer_of(refusal_of(error, model));
}

HttpAnswerPtr without_result(const Error& error, std::string_view model) {
  return answer_of(outcome_of(error, model));
}

HttpAnswerPtr failed(const Error& error, std::string_view model) {
  return answer_of(failure_of(error, model));
}

}  // namespace stoker::serve::http
