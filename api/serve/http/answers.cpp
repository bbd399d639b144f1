#include "stoker/api/serve/http/answers.hpp"

#include <atomic>
#include <charconv>
#include <cstdint>

#include "stoker/api/serve/protocol/metadata.hpp"
#include "stoker/runtime/base/printable.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker::serve::http {
namespace {

constexpr unsigned client_gone = 499;  // as nginx has it; nobody reads the answer

/// Retry-After has whole seconds.
unsigned retry_after_s(const Error& error) {
  const std::string_view text = error.detail("retry_after_ms");
  unsigned ms = 0;
  std::from_chars(text.data(), text.data() + text.size(), ms);
  return ms / 1000 + 1;
}

std::string next_request_number() {
  static std::atomic<std::uint64_t> last{0};
  return std::to_string(last.fetch_add(1, std::memory_order_relaxed) + 1);
}

HttpAnswerPtr come_again(unsigned status, std::string_view reason, unsigned after_s) {
  return std::make_shared<const HttpAnswer>(
      HttpAnswer{.status = status,
                 .content_type = "application/json",
                 .headers = {{"Retry-After", std::to_string(after_s)}},
                 .body = protocol::error_body(reason)});
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
  switch (error.code()) {
    case ErrorCode::invalid_argument:
    case ErrorCode::not_found:
    case ErrorCode::dtype_mismatch:
    case ErrorCode::shape_mismatch:
    case ErrorCode::unsupported: return refusal(400, error.reason());
    case ErrorCode::limit_exceeded: return refusal(413, error.reason());
    default: return failed(error, model);
  }
}

HttpAnswerPtr without_result(const Error& error, std::string_view model) {
  switch (error.code()) {
    case ErrorCode::invalid_argument:
    case ErrorCode::dtype_mismatch:
    case ErrorCode::shape_mismatch:
      return refusal(400, "model '" + std::string{model} + "' does not take these inputs: " +
                              std::string{to_string(error.code())} + ": " +
                              printable(error.reason()));
    default: return failed(error, model);
  }
}

HttpAnswerPtr failed(const Error& error, std::string_view model) {
  const std::string who = model.empty() ? "the request" : "model '" + std::string{model} + "'";
  switch (error.code()) {
    case ErrorCode::overloaded: return unavailable("too many requests wait", retry_after_s(error));
    case ErrorCode::limit_exceeded:  // of the queue's bytes; the device has limits, too
      if (error.op() == "serving") return refusal(413, error.reason());
      break;
    case ErrorCode::out_of_memory: return unavailable("memory is exhausted");
    case ErrorCode::closed:
    case ErrorCode::forked_process: return unavailable(who + " is not served any more");
    case ErrorCode::device_lost: return unavailable("the device of " + who + " is being reopened");
    case ErrorCode::deadline_exceeded:
      return refusal(504, "the deadline of the request has passed");
    case ErrorCode::cancelled: return refusal(client_gone, "the request was cancelled");
    default: break;
  }
  const std::string number = next_request_number();
  log_error("request failed",
            {{"request", number}, {"model", std::string{model}}, {"error", error.what()}});
  return refusal(
      500, who + " failed: " + std::string{to_string(error.code())} + " (request " + number + ")");
}

}  // namespace stoker::serve::http
