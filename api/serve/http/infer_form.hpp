// An inference request in a body of HTTP, and its answer (InferCall).
//
// Threads: one at a time. Errors are thrown (infer_request.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "stoker/api/serve/http/exchange.hpp"
#include "stoker/api/serve/protocol/infer_response.hpp"
#include "stoker/runtime/base/error.hpp"

namespace stoker::serve::http {

class InferForm {
 public:
  using Answer = HttpAnswerPtr;

  InferForm(std::string body, std::optional<std::uint64_t> json_bytes,
            const protocol::BodyLimits& limits) noexcept
      : body_{std::move(body)}, json_bytes_{json_bytes}, limits_{limits} {}

  [[nodiscard]] std::size_t bytes() const noexcept { return body_.size(); }
  [[nodiscard]] protocol::InferRequest read(const AnyModel& model);
  [[nodiscard]] HttpAnswerPtr write(const protocol::InferRequest& request,
                                    const protocol::ModelLabel& label,
                                    const NamedValues& outputs) const;
  [[nodiscard]] HttpAnswerPtr refused(const Error& error, const std::string& model) const;
  [[nodiscard]] HttpAnswerPtr failed(const Error& error, const std::string& model) const;
  [[nodiscard]] static HttpAnswerPtr nothing();

 private:
  std::string body_;
  std::optional<std::uint64_t> json_bytes_;
  protocol::BodyLimits limits_;
};

}  // namespace stoker::serve::http
