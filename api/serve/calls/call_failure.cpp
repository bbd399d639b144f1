#include "stoker/api/serve/calls/call_failure.hpp"

#include <atomic>
#include <charconv>

#include "stoker/runtime/base/printable.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker::serve {
namespace {

using FailureKind = CallFailure::Kind;

CallFailure not_now(std::string text, std::uint32_t retry_after_ms = 0) {
  return {FailureKind::unavailable, std::move(text), retry_after_ms};
}

std::uint32_t retry_after_ms(const Error& error) {
  const std::string_view text = error.detail("retry_after_ms");
  std::uint32_t ms = 0;
  std::from_chars(text.data(), text.data() + text.size(), ms);
  return ms;
}

std::string next_request_number() {
  static std::atomic<std::uint64_t> last{0};
  return std::to_string(last.fetch_add(1, std::memory_order_relaxed) + 1);
}

}  // namespace

CallFailure refusal_of(const Error& error, std::string_view model) {
  switch (error.code()) {
    case ErrorCode::invalid_argument:
    case ErrorCode::not_found:
    case ErrorCode::dtype_mismatch:
    case ErrorCode::shape_mismatch:
    case ErrorCode::unsupported: return {FailureKind::refused, std::string{error.reason()}};
    case ErrorCode::limit_exceeded: return {FailureKind::too_large, std::string{error.reason()}};
    default: return failure_of(error, model);
  }
}

CallFailure outcome_of(const Error& error, std::string_view model) {
  switch (error.code()) {
    case ErrorCode::invalid_argument:
    case ErrorCode::dtype_mismatch:
    case ErrorCode::shape_mismatch:
      return {FailureKind::refused,
              "model '" + std::string{model} + "' does not take these inputs: " +
                  std::string{to_string(error.code())} + ": " + printable(error.reason())};
    default: return failure_of(error, model);
  }
}

CallFailure failure_of(const Error& error, std::string_view model) {
  const std::string who = model.empty() ? "the request" : "model '" + std::string{model} + "'";
  switch (error.code()) {
    case ErrorCode::overloaded: return not_now("too many requests wait", retry_after_ms(error));
    case ErrorCode::limit_exceeded:  // of the queue's bytes; the device has limits, too
      if (error.op() == "serving") return {FailureKind::too_large, std::string{error.reason()}};
      break;
    case ErrorCode::out_of_memory: return not_now("memory is exhausted");
    case ErrorCode::closed:
    case ErrorCode::forked_process: return not_now(who + " is not served any more");
    case ErrorCode::device_lost: return not_now("the device of " + who + " is being reopened");
    case ErrorCode::deadline_exceeded:
      return {FailureKind::deadline, "the deadline of the request has passed"};
    case ErrorCode::cancelled: return {FailureKind::cancelled, "the request was cancelled"};
    default: break;
  }
  const std::string number = next_request_number();
  log_error("request failed",
            {{"request", number}, {"model", std::string{model}}, {"error", error.what()}});
  return {FailureKind::failed,
          who + " failed: " + std::string{to_string(error.code())} + " (request " + number + ")"};
}

}  // namespace stoker::serve
