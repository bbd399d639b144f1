// An inference request as a message of gRPC, and its answer (InferCall).
//
// Threads: one at a time. Errors are thrown (protocol/infer_request.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "stoker/api/serve/batch_times.hpp"
#include "stoker/api/serve/grpc/grpc_answer.hpp"
#include "stoker/api/serve/grpc/message_bytes.hpp"
#include "stoker/api/serve/protocol/infer_response.hpp"

namespace stoker::serve::grpc {

class InferForm {
 public:
  using Answer = GrpcAnswerPtr;

  /// `time_left`: of the call's deadline, if it has one.
  InferForm(ReceivedMessage message, const protocol::BodyLimits& limits,
            std::optional<std::chrono::microseconds> time_left)
      : message_{std::move(message)}, limits_{limits}, time_left_{time_left} {}

  [[nodiscard]] std::size_t bytes() const noexcept { return message_.size(); }
  [[nodiscard]] static std::size_t answer_bytes(std::size_t elements) noexcept { return elements; }
  [[nodiscard]] protocol::InferRequest read(const AnyModel& model);
  static void ran(const RequestTimes&) noexcept {}  // there is no log of calls
  [[nodiscard]] GrpcAnswerPtr write(const protocol::InferRequest& request,
                                    const protocol::ModelLabel& label, const NamedValues& outputs,
                                    const protocol::ClassLabels* labels) const;
  [[nodiscard]] GrpcAnswerPtr refused(const Error& error, const std::string& model) const;
  [[nodiscard]] GrpcAnswerPtr without_result(const Error& error, const std::string& model) const;
  [[nodiscard]] GrpcAnswerPtr failed(const Error& error, const std::string& model) const;
  [[nodiscard]] GrpcAnswerPtr cancelled(const std::string& model) const;
  [[nodiscard]] static GrpcAnswerPtr nothing();

 private:
  ReceivedMessage message_;
  protocol::BodyLimits limits_;
  std::optional<std::chrono::microseconds> time_left_;
};

}  // namespace stoker::serve::grpc
