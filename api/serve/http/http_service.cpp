#include "stoker/api/serve/http/http_service.hpp"

#include <atomic>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/api/serve/calls/infer_call.hpp"
#include "stoker/api/serve/calls/readiness.hpp"
#include "stoker/api/serve/http/answers.hpp"
#include "stoker/api/serve/http/encoding/content_coding.hpp"
#include "stoker/api/serve/http/infer_form.hpp"
#include "stoker/api/serve/http/media_type.hpp"
#include "stoker/api/serve/http/model_documents.hpp"
#include "stoker/api/serve/http/page/page.hpp"
#include "stoker/api/serve/http/repository_answers.hpp"
#include "stoker/api/serve/http/route.hpp"
#include "stoker/api/serve/http/security/route_access.hpp"
#include "stoker/api/serve/http/service_metrics.hpp"
#include "stoker/api/serve/http/target.hpp"
#include "stoker/api/serve/http/watch/statistics_document.hpp"
#include "stoker/api/serve/protocol/metadata.hpp"
#include "stoker/api/serve/protocol/refusal.hpp"
#include "stoker/api/system.hpp"
#include "stoker/api/version.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker {
namespace serve::http {

struct ServiceState {
  CallPlaces places;
  const MetricRegistry* metrics;
  std::shared_ptr<const ServedModels> models;
  HttpServiceOptions options;
  std::shared_ptr<RequestLanes> lanes;
  std::shared_ptr<Readiness> ready;
  std::shared_ptr<HttpCounts> counts = std::make_shared<HttpCounts>();
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

HttpAnswerPtr unknown_coding(std::string_view name) {
  HttpAnswer answer =
      *refusal(415, "the content encoding " + protocol::in_quotes(name) + " is not supported");
  answer.headers.emplace_back("Accept-Encoding", "gzip, deflate");
  return std::make_shared<const HttpAnswer>(std::move(answer));
}

/// The document in the coding that its reader prefers.
Future<HttpAnswerPtr> in_coding(const State& state, const Future<HttpAnswerPtr>& document,
                                Coding coding) {
  if (coding == Coding::identity) return document;
  return document.then(*state->places.executor,
                       [coding](const Result<HttpAnswerPtr>& answer) -> Result<HttpAnswerPtr> {
                         if (!answer) return answer.error();
                         HttpAnswer coded = **answer;
                         encode(coded, coding);
                         return std::make_shared<const HttpAnswer>(std::move(coded));
                       });
}

HttpAnswerPtr server_document(const ServiceState& state) {
  std::vector<std::string> extensions{"binary_tensor_data", "classification", "model_configuration",
                                      "statistics"};
  if (state.options.repository) extensions.emplace_back("model_repository");
  return json_answer(protocol::server_metadata("stoker", version, extensions));
}

Future<HttpAnswerPtr> readiness(const State& state, const ServedModels::Map& models) {
  return state->ready->of_all(models).then(
      *state->places.executor, [state](const Result<bool>& ready) -> Result<HttpAnswerPtr> {
        const bool all = ready.has_value() && *ready && !state->draining.load();
        return json_answer(protocol::health_body(all), all ? 200 : 503);
      });
}

Future<HttpAnswerPtr> readiness_of(const State& state, const std::string& name,
                                   const ServedVersion* version) {
  return state->ready->of(name, version)
      .then(*state->places.executor,
            [state, name](const Result<bool>& ready) -> Result<HttpAnswerPtr> {
              const bool is = ready.has_value() && *ready && !state->draining.load();
              return json_answer(protocol::model_ready_body(name, is), is ? 200 : 503);
            });
}

Future<HttpAnswerPtr> infer(const State& state, const Route& route, const ServedVersion& version,
                            HttpQuestion question) {
  if (state->draining.load()) return at_once(unavailable("the server is ending"));
  const std::optional<Coding> coding = coding_of(question.content_encoding);
  if (!coding) return at_once(unknown_coding(question.content_encoding));
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
  protocol::ModelLabel label{route.model, std::to_string(version.number)};
  auto watch = std::make_unique<RequestWatch>(state->lanes, label, question.traceparent);
  return InferCall<InferForm>::start(state->places, version, std::move(label),
                                     {std::move(question.body),
                                      {.json_bytes = json_bytes,
                                       .coding = *coding,
                                       .max_decoded_bytes = state->options.max_decoded_bytes,
                                       .answer_coding = accepted_coding(question.accept_encoding)},
                                      {.tensor_bytes = state->options.max_tensor_bytes},
                                      std::move(watch)});
}

Future<HttpAnswerPtr> statistics(const State& state, const ServedModels::Map& models) {
  Executor& executor = *state->places.executor;
  return statuses_of(executor, models)
      .then(executor,
            [](const Result<std::vector<ModelStatus>>& statuses) -> Result<HttpAnswerPtr> {
              if (!statuses) return failed(statuses.error(), "");
              return json_answer(statistics_document(*statuses));
            });
}

Future<HttpAnswerPtr> page(const State& state, const ServedModels::Snapshot& models) {
  Executor& executor = *state->places.executor;
  return statuses_of(executor, *models)
      .then(executor,
            [state,
             models](const Result<std::vector<ModelStatus>>& statuses) -> Result<HttpAnswerPtr> {
              if (!statuses) return failed(statuses.error(), "");
              return page_answer(*models, *statuses, state->options.prefix);
            });
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
    case Place::model_stats:  // of all its versions, as with Triton, if it names none
      if (!route.version) return statistics(state, {{route.model, model}});
      return statistics(state, {{route.model, {.versions = {{version->number, *version}}}}});
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

Future<HttpAnswerPtr> document_for(const State& state, const Route& route, HttpQuestion question) {
  const ServedModels::Snapshot models = state->models->snapshot();
  switch (route.place) {
    case Place::server: return at_once(server_document(*state));
    case Place::models: return at_once(json_answer(models_document(*models)));
    case Place::live: return at_once(json_answer(protocol::health_body(true)));
    case Place::ready: return readiness(state, *models);
    case Place::page: return page(state, models);
    case Place::stats: return statistics(state, *models);
    case Place::metrics:
      return metrics_answer(*state->places.executor,
                            {state->metrics, state->counts, state->options.triton_metrics},
                            *models);
    default: return answer_for_model(state, route, *models, std::move(question));
  }
}

Future<HttpAnswerPtr> answer_to(const State& state, HttpQuestion question) {
  const std::optional<TargetPath> path = path_of(question.target, state->options.prefix);
  if (!path) return at_once(refusal(400, "the target is no path"));
  Route route = path->below ? route_of(path->segments) : Route{};
  if (is_of_repository(route.place) && !state->options.repository) route.place = Place::nowhere;
  if (auto refused = access_refusal(access_to(route.place), question, state->options.tokens.get()))
    return at_once(std::move(refused));
  if (route.place == Place::nowhere || (route.place == Place::metrics && !state->options.metrics) ||
      (route.place == Place::page && !state->options.page))
    return at_once(nowhere(question.target));
  if (!allows(route.place, question.method)) return at_once(wrong_method(route, question.method));
  if (is_of_repository(route.place)) {
    if (state->draining.load()) return at_once(unavailable("the server is ending"));
    return repository_answer(*state->places.executor, state->options.repository, state->models,
                             route, question.body);
  }
  if (route.place == Place::infer) return document_for(state, route, std::move(question));
  const Coding coding = accepted_coding(question.accept_encoding);
  return in_coding(state, document_for(state, route, std::move(question)), coding);
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
  state_->lanes = std::make_shared<serve::http::RequestLanes>(system.trace());
  state_->ready =
      std::make_shared<serve::Readiness>(*state_->places.executor, *state_->places.pool);
  state_->metrics = &system.metrics();
  state_->models = std::move(models);
  state_->options = std::move(options);
}

bool HttpService::handles(std::string_view target) const {
  const auto path = serve::http::path_of(target, state_->options.prefix);
  return path && path->below;
}

HttpAnswerPtr HttpService::refusal_of(const HttpQuestion& question) const {
  if (!state_->options.tokens) return nullptr;
  const auto path = serve::http::path_of(question.target, state_->options.prefix);
  if (!path) return nullptr;
  const serve::http::Route route = serve::http::route_of(path->segments);
  return serve::http::access_refusal(serve::http::access_to(route.place), question,
                                     state_->options.tokens.get());
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

const std::shared_ptr<serve::http::HttpCounts>& HttpService::counts() const noexcept {
  return state_->counts;
}

Executor& HttpService::executor() const noexcept { return *state_->places.executor; }

}  // namespace stoker
