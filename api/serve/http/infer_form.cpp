#include "stoker/api/serve/http/infer_form.hpp"

#include <limits>
#include <span>
#include <utility>

#include "stoker/api/serve/http/answers.hpp"
#include "stoker/api/serve/http/encoding/content_coding.hpp"
#include "stoker/runtime/futures/cancel.hpp"

namespace stoker::serve::http {
namespace {

HttpAnswerPtr with(HttpInference inference, const HttpAnswerPtr& answer) {
  HttpAnswer told = *answer;
  told.inference = std::move(inference);
  return std::make_shared<const HttpAnswer>(std::move(told));
}

}  // namespace

std::size_t InferForm::bytes() const noexcept {
  // What few bytes become when they are decoded may be many.
  return form_.coding == Coding::identity ? body_.size() : std::numeric_limits<std::size_t>::max();
}

std::size_t InferForm::answer_bytes(std::size_t elements) const noexcept {
  return elements * (form_.answer_coding == Coding::identity ? 1 : 8);  // to compress takes longer
}

protocol::InferRequest InferForm::read(const AnyModel& model) {
  std::string body = std::exchange(body_, {});
  if (form_.coding != Coding::identity) body = decoded(body, form_.coding, form_.max_decoded_bytes);
  protocol::InferRequest request = protocol::read_infer_request(std::as_bytes(std::span{body}),
                                                                form_.json_bytes, model, limits_);
  watch_->read(request.id);
  return request;
}

HttpAnswerPtr InferForm::write(const protocol::InferRequest& request,
                               const protocol::ModelLabel& label, const NamedValues& outputs,
                               const protocol::ClassLabels* labels) const {
  protocol::InferResponse response =
      protocol::write_infer_response(request, label, outputs, labels);
  HttpAnswer written{.content_type = "application/json", .headers = {}, .body = {}};
  if (response.json_bytes) {
    written.content_type = "application/octet-stream";
    written.headers.emplace_back(protocol::json_bytes_header, std::to_string(*response.json_bytes));
  }
  written.body = std::move(response.body);
  written.inference = watch_->noted();
  encode(written, form_.answer_coding);
  return std::make_shared<const HttpAnswer>(std::move(written));
}

HttpAnswerPtr InferForm::refused(const Error& error, const std::string& model) const {
  return with(watch_->noted(), http::refused(error, model));
}

HttpAnswerPtr InferForm::without_result(const Error& error, const std::string& model) const {
  return with(watch_->noted(), http::without_result(error, model));
}

HttpAnswerPtr InferForm::failed(const Error& error, const std::string& model) const {
  return http::failed(error, model);
}

HttpAnswerPtr InferForm::cancelled(const std::string& model) const {
  return with(watch_->beginning(), http::failed(cancelled_error("infer"), model));
}

HttpAnswerPtr InferForm::nothing() {
  return std::make_shared<const HttpAnswer>(HttpAnswer{.status = 500});
}

}  // namespace stoker::serve::http
