#include "stoker/api/serve/http/infer_form.hpp"

#include <span>
#include <utility>

#include "stoker/api/serve/http/answers.hpp"

namespace stoker::serve::http {

protocol::InferRequest InferForm::read(const AnyModel& model) {
  const std::string body = std::exchange(body_, {});
  return protocol::read_infer_request(std::as_bytes(std::span{body}), json_bytes_, model, limits_);
}

HttpAnswerPtr InferForm::write(const protocol::InferRequest& request,
                               const protocol::ModelLabel& label,
                               const NamedValues& outputs) const {
  protocol::InferResponse response = protocol::write_infer_response(request, label, outputs);
  HttpAnswer written{.content_type = "application/json", .headers = {}, .body = {}};
  if (response.json_bytes) {
    written.content_type = "application/octet-stream";
    written.headers.emplace_back(protocol::json_bytes_header, std::to_string(*response.json_bytes));
  }
  written.body = std::move(response.body);
  return std::make_shared<const HttpAnswer>(std::move(written));
}

HttpAnswerPtr InferForm::refused(const Error& error, const std::string& model) const {
  return http::refused(error, model);
}

HttpAnswerPtr InferForm::failed(const Error& error, const std::string& model) const {
  return http::failed(error, model);
}

HttpAnswerPtr InferForm::nothing() {
  return std::make_shared<const HttpAnswer>(HttpAnswer{.status = 500});
}

}  // namespace stoker::serve::http
