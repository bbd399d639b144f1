#include "stoker/api/serve/grpc/grpc_service.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "stoker/api/serve/grpc/messages.hpp"
#include "stoker/api/serve/grpc/request_message.hpp"
#include "stoker/api/serve/protocol/refusal.hpp"
#include "stoker/api/version.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::serve::grpc {
namespace {

using ::grpc::StatusCode;

Future<GrpcAnswerPtr> at_once(GrpcAnswerPtr answer) {
  return make_ready_future<GrpcAnswerPtr>(std::move(answer));
}

GrpcAnswerPtr unknown_model(const std::string& name, const ServedModels::Map& models) {
  std::vector<std::string_view> names;
  names.reserve(models.size());
  for (const auto& [known, model] : models) names.emplace_back(known);
  return status_answer(StatusCode::NOT_FOUND, "there is no model " + protocol::in_quotes(name) +
                                                  did_you_mean(name, names));
}

GrpcAnswerPtr unavailable(std::string text) {
  return answer_of({CallFailure::Kind::unavailable, std::move(text)});
}

}  // namespace

Method method_of(std::string_view path) noexcept {
  struct Named {
    std::string_view name;
    Method method;
  };
  static constexpr std::array methods{
      Named{"ServerLive", Method::server_live},
      Named{"ServerReady", Method::server_ready},
      Named{"ModelReady", Method::model_ready},
      Named{"ServerMetadata", Method::server_metadata},
      Named{"ModelMetadata", Method::model_metadata},
      Named{"ModelInfer", Method::model_infer},
      Named{"ModelStreamInfer", Method::model_stream_infer},
  };
  constexpr std::string_view service = "/inference.GRPCInferenceService/";
  if (!path.starts_with(service)) return Method::unknown;
  path.remove_prefix(service.size());
  for (const Named& one : methods)
    if (one.name == path) return one.method;
  return Method::unknown;
}

bool GrpcService::opens(Method method, std::string_view authorization) const {
  const bool is_health = method == Method::server_live || method == Method::server_ready ||
                         method == Method::model_ready;
  if (is_health || !tokens_ || tokens_->files().inference.empty()) return true;
  return tokens_->opened_by_header(authorization) != AccessTokens::Opens::nothing;
}

Future<GrpcAnswerPtr> GrpcService::truth_of(const Future<bool>& ready) const {
  return ready.then(*places_.executor, [](const Result<bool>& is) -> Result<GrpcAnswerPtr> {
    return message_answer(truth_message(is.has_value() && *is));
  });
}

Future<GrpcAnswerPtr> GrpcService::answer(Method method, ReceivedMessage message,
                                          std::optional<std::chrono::microseconds> time_left) {
  try {
    switch (method) {
      case Method::server_live: return at_once(message_answer(truth_message(true)));
      case Method::server_ready:
        if (draining_.load()) return at_once(message_answer(truth_message(false)));
        return truth_of(ready_->of_all(*models_->snapshot()));
      case Method::server_metadata: {
        static constexpr std::array<std::string_view, 1> extensions{"classification"};
        return at_once(message_answer(server_metadata("stoker", version, extensions)));
      }
      case Method::unknown:
        return at_once(status_answer(StatusCode::UNIMPLEMENTED, "there is no such method"));
      default: return answer_for_model(method, std::move(message), time_left);
    }
  } catch (...) {
    return at_once(answer_of(refusal_of(error_from_current_exception("grpc_service"), {})));
  }
}

Future<GrpcAnswerPtr> GrpcService::answer_for_model(
    Method method, ReceivedMessage message, std::optional<std::chrono::microseconds> time_left) {
  const ModelAddress address = read_address(message.bytes());
  const ServedModels::Snapshot models = models_->snapshot();
  const auto place = models->find(address.name);
  if (place == models->end()) return at_once(unknown_model(address.name, *models));
  const ServedModel& model = place->second;
  const ServedVersion* const version =
      address.version.empty() ? model.answering() : model.find(address.version);
  if (!address.version.empty() && version == nullptr)
    return at_once(status_answer(
        StatusCode::NOT_FOUND,
        "model '" + address.name + "' has no version " + protocol::in_quotes(address.version)));
  if (method == Method::model_ready) {
    if (draining_.load()) return at_once(message_answer(truth_message(false)));
    return truth_of(ready_->of(address.name, version));
  }
  if (version == nullptr || !version->serving)
    return at_once(unavailable("model '" + address.name + "' is not ready"));
  if (method == Method::model_metadata)
    return at_once(message_answer(model_metadata(address.name, model.ready_versions(),
                                                 version->platform, version->serving->model())));
  if (draining_.load()) return at_once(unavailable("the server is ending"));
  return InferCall<InferForm>::start(places_, *version,
                                     {address.name, std::to_string(version->number)},
                                     {std::move(message), limits_, time_left});
}

}  // namespace stoker::serve::grpc
