#include "stoker/api/serve/grpc/grpc_answer.hpp"

#include <utility>

namespace stoker::serve::grpc {

GrpcAnswerPtr message_answer(std::string message) {
  return std::make_shared<const GrpcAnswer>(GrpcAnswer{.message = std::move(message)});
}

GrpcAnswerPtr status_answer(::grpc::StatusCode code, std::string text) {
  return std::make_shared<const GrpcAnswer>(GrpcAnswer{.code = code, .text = std::move(text)});
}

GrpcAnswerPtr answer_of(const CallFailure& failure) {
  using Kind = CallFailure::Kind;
  switch (failure.kind) {
    case Kind::refused: return status_answer(::grpc::StatusCode::INVALID_ARGUMENT, failure.text);
    case Kind::too_large:
      return status_answer(::grpc::StatusCode::RESOURCE_EXHAUSTED, failure.text);
    case Kind::unavailable:
      return std::make_shared<const GrpcAnswer>(
          GrpcAnswer{.code = ::grpc::StatusCode::UNAVAILABLE,
                     .text = failure.text,
                     .retry_after_ms = failure.retry_after_ms});
    case Kind::deadline: return status_answer(::grpc::StatusCode::DEADLINE_EXCEEDED, failure.text);
    case Kind::cancelled: return status_answer(::grpc::StatusCode::CANCELLED, failure.text);
    case Kind::failed: break;
  }
  return status_answer(::grpc::StatusCode::INTERNAL, failure.text);
}

}  // namespace stoker::serve::grpc
