// Answers requests of the Open Inference Protocol (KServe v2) for a host's own HTTP server.
//
//     HttpService service{system, models, {.prefix = "/ml"}};
//     if (service.handles(request.target()))
//       response = co_await service.async_answer(std::move(request), use_awaitable);   // api/serve_http.hpp
//
//     GET   /v2                                   the server and its extensions
//     GET   /v2/health/live, /v2/health/ready
//     GET   /v2/models                            names, versions and states
//     GET   /v2/models/M[/versions/V]             inputs and outputs
//     GET   /v2/models/M[/versions/V]/ready, …/config, …/stats
//     GET   /v2/models/stats                      of all models
//     POST  /v2/models/M[/versions/V]/infer
//     GET   /metrics                              for Prometheus, if options.metrics
//     GET   /                                     a page for people, if options.page
//     POST  /v2/repository/…                      if options.repository (repository_answers.hpp)
//
// HEAD is answered as GET is; async_answer() leaves the body out. docs/serving.md has the table of refusals.
//
// Threads: a handle; any thread may call, nothing blocks, and there is no thread of its own: bodies are read and
// written on the system's executor, large ones on its pool for blocking work (InferCall). Lifetime: answers keep what
// they need; the system outlives the service and its answers. Errors: answers are never errors; a failure is an answer
// with its status. The constructor throws invalid_argument for a prefix that is neither empty nor "/name".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "stoker/api/serve/http/exchange.hpp"
#include "stoker/api/serve/models/served_models.hpp"

namespace stoker {

class AccessTokens;     // api/serve/calls/access_tokens.hpp
class ModelRepository;  // api/serve/repository/model_repository.hpp
class System;           // api/system.hpp

namespace serve::http {
struct HttpCounts;  // api/serve/http/http_counts.hpp
struct ServiceState;
}  // namespace serve::http

struct HttpServiceOptions {
  /// What stands before /v2 and /metrics, such as "/ml".
  std::string prefix = {};
  bool metrics = true;          ///< whether there is /metrics, with all metrics of the system
  bool page = true;             ///< whether there is a page for people at /
  bool triton_metrics = false;  ///< whether /metrics also has the names that Triton's metrics have
  /// Clients may ask what it has, and load and unload its models. Null: they may not.
  std::shared_ptr<const ModelRepository> repository = {};
  /// Of all inputs of a request together.
  std::uint64_t max_tensor_bytes = std::uint64_t{1} << 30;
  /// Of a body that came compressed, when it is decoded; beyond it 413. Hosts limit bodies as they come.
  std::uint64_t max_decoded_bytes = std::uint64_t{64} << 20;
  /// Who may ask. Null: anybody, but for control, which is then for loopback addresses and Unix sockets only.
  std::shared_ptr<const AccessTokens> tokens = {};
};

class HttpService {
 public:
  HttpService(const System& system, std::shared_ptr<const ServedModels> models,
              HttpServiceOptions options = {});

  /// Whether the target is below the prefix. Other targets are answered with 404.
  [[nodiscard]] bool handles(std::string_view target) const;
  /// What the question is refused with whatever its body is: it has no right to ask. Null: answer() will see. A host
  /// that asks this first need not read the body.
  [[nodiscard]] HttpAnswerPtr refusal_of(const HttpQuestion& question) const;
  /// Returns at once. cancel() on the future cancels the inference.
  [[nodiscard]] Future<HttpAnswerPtr> answer(HttpQuestion question) const;
  /// answer() for a request of Boost.Beast, with a completion token: the handler's signature is
  /// void(std::exception_ptr, HttpResponse), and the exception means that the system has stopped. A cancellation slot
  /// cancels the inference. Include api/serve_http.hpp.
  template <class Request, class Token> auto async_answer(Request&& request, Token&& token) const;

  /// From now on it is not ready, and inference requests are answered with 503; those that run go on.
  void drain() const noexcept;
  [[nodiscard]] bool is_draining() const noexcept;
  /// What its servers count.
  [[nodiscard]] const std::shared_ptr<serve::http::HttpCounts>& counts() const noexcept;
  /// Where answers are made.
  [[nodiscard]] Executor& executor() const noexcept;

 private:
  std::shared_ptr<serve::http::ServiceState> state_;
};

}  // namespace stoker
