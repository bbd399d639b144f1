#include "stoker/api/serve/grpc/infer_form.hpp"

#include <algorithm>
#include <utility>

#include "stoker/api/serve/grpc/messages.hpp"
#include "stoker/api/serve/grpc/request_message.hpp"
#include "stoker/runtime/futures/cancel.hpp"

namespace stoker::serve::grpc {

protocol::InferRequest InferForm::read(const AnyModel& model) {
  ReceivedMessage message = std::exchange(message_, {});
  protocol::InferRequest request = read_request(message.bytes(), model, limits_);
  if (time_left_) request.timeout = std::min(request.timeout.value_or(*time_left_), *time_left_);
  return request;
}

GrpcAnswerPtr InferForm::write(const protocol::InferRequest& request,
                               const protocol::ModelLabel& label, const NamedValues& outputs,
                               const protocol::ClassLabels* labels) const {
  return message_answer(infer_response(request, label, outputs, labels));
}

GrpcAnswerPtr InferForm::refused(const Error& error, const std::string& model) const {
  return answer_of(refusal_of(error, model));
}

GrpcAnswerPtr InferForm::without_result(const Error& error, const std::string& model) const {
  return answer_of(outcome_of(error, model));
}

GrpcAnswerPtr InferForm::failed(const Error& error, const std::string& model) const {
  return answer_of(failure_of(error, model));
}

GrpcAnswerPtr InferForm::cancelled(const std::string& model) const {
  return failed(cancelled_error("infer"), model);
}

GrpcAnswerPtr InferForm::nothing() { return status_answer(::grpc::StatusCode::INTERNAL, {}); }

}  // namespace stoker::serve::grpc
