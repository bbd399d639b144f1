#include "stoker/api/serve/http/repository_answers.hpp"

#include <nlohmann/json.hpp>

#include "stoker/api/serve/http/answers.hpp"
#include "stoker/api/serve/protocol/refusal.hpp"
#include "stoker/api/serve/repository/model_repository.hpp"
#include "stoker/runtime/base/json_text.hpp"

namespace stoker::serve::http {
namespace {

using nlohmann::json;

constexpr std::size_t most_body_bytes = std::size_t{64} << 10;
constexpr int deepest = 8;

json list_of(const ServedModels::Map& models, bool has_reasons, bool only_ready) {
  json list = json::array();
  const auto add = [&](const std::string& name, const std::string& version, ModelState state,
                       const std::string& reason) {
    if (only_ready && state != ModelState::ready) return;
    json& entry = list.emplace_back();
    entry = {{"name", name}, {"state", to_string(state)}};
    if (!version.empty()) entry["version"] = version;
    if (has_reasons) entry["reason"] = reason;
  };
  for (const auto& [name, model] : models) {
    if (model.versions.empty()) add(name, "", ModelState::unavailable, model.reason);
    for (const auto& [number, version] : model.versions)
      add(name, std::to_string(number), version.state, version.reason);
  }
  return list;
}

/// What is wrong with a body; null: nothing. An empty one is an empty object.
HttpAnswerPtr wrong_body(const json& document) {
  if (!document.is_object()) return refusal(400, "the body is no JSON object");
  if (const auto ready = document.find("ready"); ready != document.end() && !ready->is_boolean())
    return refusal(400, "'ready' must be true or false");
  const auto parameters = document.find("parameters");
  if (parameters == document.end()) return nullptr;
  if (!parameters->is_object()) return refusal(400, "'parameters' must be an object");
  for (const auto& [name, value] : parameters->items())
    if (name != "unload_dependents")
      return refusal(400, "the parameter " + protocol::in_quotes(name) +
                              " is not supported: models are loaded as the repository has them");
  return nullptr;
}

HttpAnswerPtr failure(const char* what, const std::string& name, const Error& error) {
  const std::string text =
      std::string{"failed to "} + what + " " + protocol::in_quotes(name) + ": ";
  switch (error.code()) {
    case ErrorCode::overloaded:
    case ErrorCode::closed:
    case ErrorCode::out_of_memory:
    case ErrorCode::device_lost: return unavailable(text + std::string{error.reason()});
    case ErrorCode::not_found:
      if (error.op() == "repository") return refusal(404, error.reason());
      break;
    default: break;
  }
  return refusal(400, text + error.what());
}

Future<HttpAnswerPtr> known_answer(HttpAnswerPtr answer) {
  return make_ready_future<HttpAnswerPtr>(std::move(answer));
}

}  // namespace

std::string models_document(const ServedModels::Map& models) {
  return write_json(list_of(models, false, false), BadUtf8::replace);
}

Future<HttpAnswerPtr> repository_answer(Executor& executor,
                                        const std::shared_ptr<const ModelRepository>& repository,
                                        const std::shared_ptr<const ServedModels>& models,
                                        const Route& route, const std::string& body) {
  if (body.size() > most_body_bytes) return known_answer(refusal(413, "the body is too large"));
  const json document = body.empty() ? json::object() : parse_json(body, deepest);
  if (HttpAnswerPtr wrong = wrong_body(document)) return known_answer(std::move(wrong));
  if (route.place == Place::repository_index) {
    const bool only_ready = document.value("ready", false);
    return repository->look().then(
        executor,
        [models,
         only_ready](const Result<std::vector<std::string>>& looked) -> Result<HttpAnswerPtr> {
          if (!looked) return unavailable(looked.error().reason());
          return json_answer(
              write_json(list_of(*models->snapshot(), true, only_ready), BadUtf8::replace));
        });
  }
  const bool loads = route.place == Place::repository_load;
  const Future<void> done = loads ? repository->load(route.model) : repository->unload(route.model);
  return done.then(
      executor, [loads, name = route.model](const Result<void>& outcome) -> Result<HttpAnswerPtr> {
        if (!outcome) return failure(loads ? "load" : "unload", name, outcome.error());
        return std::make_shared<const HttpAnswer>();
      });
}

}  // namespace stoker::serve::http
