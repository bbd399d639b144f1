#include "stoker/api/serve/http/http_service.hpp"

#include <atomic>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/api/serve/http/answers.hpp"
#include "stoker/api/serve/http/infer_call.hpp"
#include "stoker/api/serve/http/media_type.hpp"
#include "stoker/api/serve/http/model_documents.hpp"
#include "stoker/api/serve/http/repository_answers.hpp"
#include "stoker/api/serve/http/route.hpp"
#include "stoker/api/serve/http/service_metrics.hpp"
#include "stoker/api/serve/http/target.hpp"
#include "stoker/api/serve/protocol/metadata.hpp"
#include "stoker/api/serve/protocol/refusal.hpp"
#include "stoker/api/system.hpp"
#include "stoker/api/version.hpp"
#include "stoker/runtime/base/nearest_name.hpp"
#include "stoker/runtime/futures/when.hpp"

namespace stoker {
namespace serve::http {

struct ServiceState {
  CallPlaces places;
  const MetricRegistry* metrics;
  std::shared_ptr<const ServedModels> models;
  HttpServiceOptions options;
  std::atomic<bool> draining{false};
};

namespace {

using State = std::shared_ptr<const ServiceState>;

Future<HttpAnswerPtr> at_once(HttpAnswerPtr answer) {
  return make_ready_future<HttpAnswerPtr>(std::move(answer));
}

HttpAnswerPtr nowhere(std::string_view target) {
  return refusal(404, "there is nothing at " + protocol::in_quotes(target));
}

HttpAnswerPtr unknown_model(const std::string& name, const ServedModels::Map& models) {
  std::vector<std::string_view> names;
  names.reserve(models.size());
  for (const auto& [known, model] : models) names.emplace_back(known);
  return refusal(404, "there is no model " + protocol::in_quotes(name) + did_you_mean(name, names));
}

HttpAnswerPtr unknown_version(const Route& route, const ServedModel& model) {
  std::string text = "model '" + route.model + "' has no version " +
                     protocol::in_quotes(*route.version) +
                     (model.versions.size() == 1 ? "; there is version" : "; there are versions");
  for (const auto& [number, version] : model.versions)
    text += (number == model.versions.begin()->first ? " '" : ", '") + std::to_string(number) + "'";
  return refusal(404, model.versions.empty() ? text.substr(0, text.find(';')) : text);
}

/// `version`: the one that was asked for; null: any.
HttpAnswerPtr not_ready(const Route& route, const ServedModel& model,
                        const ServedVersion* version) {
  const char* why = "it is not loaded";
  if (version != nullptr ? version->state == ModelState::loading : model.is_loading())
    why = "it is being loaded";
  else if (version != nullptr && version->state == ModelState::unloading)
    why = "it is being unloaded";
  return unavailable("model '" + route.model + "' is not ready: " + why);
}

HttpAnswerPtr wrong_method(const Route& route, std::string_view method) {
  HttpAnswer answer = *refusal(405, protocol::in_quotes(method) + " is not for this path");
  answer.headers.emplace_back("Allow", methods_of(route.place));
  return std::make_shared<const HttpAnswer>(std::move(answer));
}

HttpAnswerPtr server_document(const ServiceState& state) {
  std::vector<std::string> extensions{"binary_tensor_data", "classification",
                                      "model_configuration"};
  if (state.options.repository) extensions.emplace_back("model_repository");
  return json_answer(protocol::server_metadata("stoker", version, extensions));
}

/// Whether the version answers: it is loaded, has not ended, is not drained, and its device is there.
Future<bool> is_ready(const State& state, const ServedVersion* version) {
  if (version == nullptr || !version->serving || !version->serving->model().device().ready())
    return make_ready_future<bool>(false);
  return version->serving->status().then(*state->places.executor,
                                         [](const Result<ServingStatus>& status) -> Result<bool> {
                                           return status.has_value() && !status->draining;
                                         });
}

Future<HttpAnswerPtr> readiness(const State& state, const ServedModels::Map& models) {
  std::vector<Future<bool>> each;
  each.reserve(models.size());
  for (const auto& [name, model] : models) {
    const ServedVersion* const version = model.answering();
    // Nobody waits for a model that is not loaded.
    if (version != nullptr || model.is_loading()) each.push_back(is_ready(state, version));
  }
  return when_all(std::move(each))
      .then(*state->places.executor,
            [state](const Result<std::vector<bool>>& ready) -> Result<HttpAnswerPtr> {
              bool all = ready.has_value() && !state->draining.load();
              if (ready)
                for (const bool one : *ready) all = all && one;
              return json_answer(protocol::health_body(all), all ? 200 : 503);
            });
}

Future<HttpAnswerPtr> readiness_of(const State& state, const std::string& name,
                                   const ServedVersion* version) {
  return is_ready(state, version)
      .then(*state->places.executor,
            [state, name](const Result<bool>& ready) -> Result<HttpAnswerPtr> {
              const bool is = ready.has_value() && *ready && !state->draining.load();
              return json_answer(protocol::model_ready_body(name, is), is ? 200 : 503);
            });
}

Future<HttpAnswerPtr> infer(const State& state, const Route& route, const ServedVersion& version,
                            HttpQuestion question) {
  if (state->draining.load()) return at_once(unavailable("the server is ending"));
  if (!is_body_encoding(question.content_encoding))
    return at_once(refusal(415, "the content encoding " +
                                    protocol::in_quotes(question.content_encoding) +
                                    " is not supported"));
  if (!is_body_type(question.content_type))
    return at_once(refusal(415, "the content type " + protocol::in_quotes(question.content_type) +
                                    " is neither application/json nor application/octet-stream"));
  std::optional<std::uint64_t> json_bytes;
  if (!question.json_bytes.empty()) {
    const std::string& text = question.json_bytes;
    std::uint64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{} || end != text.data() + text.size())
      return at_once(refusal(400, "Inference-Header-Content-Length is no number"));
    json_bytes = value;
  }
  return InferCall::start(state->places, version, {route.model, std::to_string(version.number)},
                          {.tensor_bytes = state->options.max_tensor_bytes}, json_bytes,
                          std::move(question.body));
}

Future<HttpAnswerPtr> answer_for_model(const State& state, const Route& route,
                                       const ServedModels::Map& models, HttpQuestion question) {
  const auto place = models.find(route.model);
  if (place == models.end()) return at_once(unknown_model(route.model, models));
  const ServedModel& model = place->second;
  const ServedVersion* const version =
      route.version ? model.find(*route.version) : model.answering();
  if (route.version && version == nullptr) return at_once(unknown_version(route, model));
  if (route.place == Place::model_ready) return readiness_of(state, route.model, version);
  if (version == nullptr || !version->serving) return at_once(not_ready(route, model, version));
  switch (route.place) {
    case Place::infer: return infer(state, route, *version, std::move(question));
    case Place::model_config:
      return version->serving->status().then(
          *state->places.executor,
          [route,
           version = *version](const Result<ServingStatus>& status) -> Result<HttpAnswerPtr> {
            if (!status) return failed(status.error(), route.model);
            return json_answer(config_document(route.model, version, *status));
          });
    default:
      return at_once(json_answer(protocol::model_metadata(
          route.model, model.ready_versions(), version->platform, version->serving->model())));
  }
}

Future<HttpAnswerPtr> answer_to(const State& state, HttpQuestion question) {
  const std::optional<TargetPath> path = path_of(question.target, state->options.prefix);
  if (!path) return at_once(refusal(400, "the target is no path"));
  const Route route = route_of(path->segments);
  if (route.place == Place::nowhere || (route.place == Place::metrics && !state->options.metrics) ||
      (is_of_repository(route.place) && !state->options.repository))
    return at_once(nowhere(question.target));
  if (!allows(route.place, question.method)) return at_once(wrong_method(route, question.method));
  if (is_of_repository(route.place)) {
    if (state->draining.load()) return at_once(unavailable("the server is ending"));
    return repository_answer(*state->places.executor, state->options.repository, state->models,
                             route, question.body);
  }
  const ServedModels::Snapshot models = state->models->snapshot();
  switch (route.place) {
    case Place::server: return at_once(server_document(*state));
    case Place::models: return at_once(json_answer(models_document(*models)));
    case Place::live: return at_once(json_answer(protocol::health_body(true)));
    case Place::ready: return readiness(state, *models);
    case Place::metrics: return metrics_answer(*state->places.executor, *state->metrics, *models);
    default: return answer_for_model(state, route, *models, std::move(question));
  }
}

}  // namespace
}  // namespace serve::http

HttpService::HttpService(const System& system, std::shared_ptr<const ServedModels> models,
                         HttpServiceOptions options)
    : state_{std::make_shared<serve::http::ServiceState>()} {
  if (!options.prefix.empty() && (options.prefix.front() != '/' || options.prefix.back() == '/'))
    throw Error{"http_service",
                ErrorCode::invalid_argument,
                "a prefix begins with '/' and does not end with it",
                {{"came", options.prefix}}};
  state_->places = {system.shared_executor(), &system.blocking()};
  state_->metrics = &system.metrics();
  state_->models = std::move(models);
  state_->options = std::move(options);
}

bool HttpService::handles(std::string_view target) const {
  const auto path = serve::http::path_of(target, state_->options.prefix);
  return path && path->below;
}

Future<HttpAnswerPtr> HttpService::answer(HttpQuestion question) const {
  try {
    return serve::http::answer_to(state_, std::move(question));
  } catch (...) {
    return make_ready_future<HttpAnswerPtr>(
        serve::http::failed(error_from_current_exception("http_service"), ""));
  }
}

void HttpService::drain() const noexcept { state_->draining.store(true); }

bool HttpService::is_draining() const noexcept { return state_->draining.load(); }

Executor& HttpService::executor() const noexcept { return *state_->places.executor; }

}  // namespace stoker
