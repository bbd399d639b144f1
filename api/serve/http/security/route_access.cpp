#include "stoker/api/serve/http/security/route_access.hpp"

#include <memory>
#include <string_view>

#include "stoker/api/serve/calls/access_tokens.hpp"
#include "stoker/api/serve/http/answers.hpp"

namespace stoker::serve::http {
namespace {

HttpAnswerPtr unauthorized(bool came) {
  HttpAnswer answer = *refusal(401, came ? "the token is not known, or opens something else"
                                         : "a token is needed: Authorization: Bearer TOKEN");
  answer.headers.emplace_back(
      "WWW-Authenticate",
      came ? R"(Bearer realm="stoker", error="invalid_token")" : R"(Bearer realm="stoker")");
  return std::make_shared<const HttpAnswer>(std::move(answer));
}

}  // namespace

Access access_to(Place place) noexcept {
  switch (place) {
    case Place::live:
    case Place::ready:
    case Place::model_ready: return Access::open;
    case Place::repository_index:
    case Place::repository_load:
    case Place::repository_unload: return Access::control;
    default: return Access::inference;
  }
}

HttpAnswerPtr access_refusal(Access needed, const HttpQuestion& question,
                             const AccessTokens* tokens) {
  using Opens = AccessTokens::Opens;
  if (needed == Access::open) return nullptr;
  const bool has_control = tokens != nullptr && !tokens->files().control.empty();
  if (needed == Access::control && !has_control && !question.is_local)
    return refusal(403, "this is off: the server has no token for it");
  const bool needs_all = needed == Access::control && has_control;
  if (!needs_all && (tokens == nullptr || tokens->files().inference.empty())) return nullptr;
  const std::string_view given = AccessTokens::bearer(question.authorization);
  const Opens opened = tokens->opened_by(given);
  if (opened == Opens::all || (!needs_all && opened == Opens::inference)) return nullptr;
  return unauthorized(!given.empty());
}

}  // namespace stoker::serve::http
