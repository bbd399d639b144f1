// An inference request in a body of HTTP, and its answer (InferCall).
//
// Threads: one at a time. Errors are thrown (infer_request.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "stoker/api/serve/http/exchange.hpp"
#include "stoker/api/serve/http/request_watch.hpp"
#include "stoker/api/serve/protocol/infer_response.hpp"
#include "stoker/runtime/base/error.hpp"

namespace stoker::serve::http {

enum class Coding : std::uint8_t;  // api/serve/http/encoding/content_coding.hpp

/// In what form the body of a request came, and its answer is to be.
struct BodyForm {
  /// Inference-Header-Content-Length, of the decoded body.
  std::optional<std::uint64_t> json_bytes = {};
  Coding coding = {};
  std::uint64_t max_decoded_bytes = 0;
  Coding answer_coding = {};
};

class InferForm {
 public:
  using Answer = HttpAnswerPtr;

  InferForm(std::string body, const BodyForm& form, const protocol::BodyLimits& limits,
            std::unique_ptr<RequestWatch> watch) noexcept
      : body_{std::move(body)}, form_{form}, limits_{limits}, watch_{std::move(watch)} {}

  [[nodiscard]] std::size_t bytes() const noexcept;
  [[nodiscard]] std::size_t answer_bytes(std::size_t elements) const noexcept;
  [[nodiscard]] protocol::InferRequest read(const AnyModel& model);
  void ran(const RequestTimes& times) const { watch_->ran(times); }
  [[nodiscard]] HttpAnswerPtr write(const protocol::InferRequest& request,
                                    const protocol::ModelLabel& label, const NamedValues& outputs,
                                    const protocol::ClassLabels* labels) const;
  [[nodiscard]] HttpAnswerPtr refused(const Error& error, const std::string& model) const;
  [[nodiscard]] HttpAnswerPtr without_result(const Error& error, const std::string& model) const;
  [[nodiscard]] HttpAnswerPtr failed(const Error& error, const std::string& model) const;
  [[nodiscard]] HttpAnswerPtr cancelled(const std::string& model) const;
  [[nodiscard]] static HttpAnswerPtr nothing();

 private:
  std::string body_;
  BodyForm form_;
  protocol::BodyLimits limits_;
  std::unique_ptr<RequestWatch> watch_;
};

}  // namespace stoker::serve::http
