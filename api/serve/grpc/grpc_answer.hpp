// The answer to a call of gRPC: a message, or a status.
//
// Values and pure functions; any thread.
#pragma once

#include <grpcpp/support/status.h>

#include <cstdint>
#include <memory>
#include <string>

#include "stoker/api/serve/calls/call_failure.hpp"

namespace stoker::serve::grpc {

struct GrpcAnswer {
  ::grpc::StatusCode code = ::grpc::StatusCode::OK;
  std::string text = {};             ///< of a status other than OK
  std::uint32_t retry_after_ms = 0;  ///< of UNAVAILABLE: when to come again; 0: it does not say
  std::string message = {};          ///< of OK
};
using GrpcAnswerPtr = std::shared_ptr<const GrpcAnswer>;

[[nodiscard]] GrpcAnswerPtr message_answer(std::string message);
[[nodiscard]] GrpcAnswerPtr status_answer(::grpc::StatusCode code, std::string text);
[[nodiscard]] GrpcAnswerPtr answer_of(const CallFailure& failure);

}  // namespace stoker::serve::grpc
