// What each method of the protocol's gRPC service answers.
//
// Threads: a handle; any thread may call. answer() joins the parts of a message and walks over its fields for the name
// of the model, so it takes longer for large ones; UnaryCall calls it on the pool for them, StreamCall does not. All
// else is read and written on the system's executor or, if large, on its pool (InferCall). Lifetime: answers keep what
// they need; the system outlives them.
// Errors: answers are never errors; a failure is an answer with its status.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "stoker/api/serve/calls/access_tokens.hpp"
#include "stoker/api/serve/calls/infer_call.hpp"
#include "stoker/api/serve/calls/readiness.hpp"
#include "stoker/api/serve/grpc/infer_form.hpp"
#include "stoker/api/serve/models/served_models.hpp"

namespace stoker::serve::grpc {

enum class Method : std::uint8_t {
  server_live,
  server_ready,
  model_ready,
  server_metadata,
  model_metadata,
  model_infer,
  model_stream_infer,
  unknown,
};
/// Of a path such as "/inference.GRPCInferenceService/ModelInfer".
[[nodiscard]] Method method_of(std::string_view path) noexcept;

class GrpcService {
 public:
  GrpcService(CallPlaces places, std::shared_ptr<const ServedModels> models,
              const protocol::BodyLimits& limits, std::shared_ptr<const AccessTokens> tokens)
      : places_{std::move(places)},
        models_{std::move(models)},
        limits_{limits},
        tokens_{std::move(tokens)},
        ready_{std::make_shared<Readiness>(*places_.executor, *places_.pool)} {}

  /// Waits for nothing. cancel() on the future cancels the inference. A stream's message is one of model_infer.
  [[nodiscard]] Future<GrpcAnswerPtr> answer(Method method, ReceivedMessage message,
                                             std::optional<std::chrono::microseconds> time_left);
  /// Whether a call with that `authorization` may go on.
  [[nodiscard]] bool opens(Method method, std::string_view authorization) const;
  /// From now on it is not ready, and inference requests are refused.
  void drain() noexcept { draining_.store(true); }
  [[nodiscard]] Executor& executor() const noexcept { return *places_.executor; }
  [[nodiscard]] BlockingPool& pool() const noexcept { return *places_.pool; }

 private:
  [[nodiscard]] Future<GrpcAnswerPtr> answer_for_model(
      Method method, ReceivedMessage message, std::optional<std::chrono::microseconds> time_left);
  [[nodiscard]] Future<GrpcAnswerPtr> truth_of(const Future<bool>& ready) const;

  const CallPlaces places_;
  const std::shared_ptr<const ServedModels> models_;
  const protocol::BodyLimits limits_;
  const std::shared_ptr<const AccessTokens> tokens_;
  const std::shared_ptr<Readiness> ready_;
  std::atomic<bool> draining_{false};
};

}  // namespace stoker::serve::grpc
