#include "stoker/api/serve/http/security/route_access.hpp"

#include <boost/beast/core/string.hpp>
#include <memory>
#include <string_view>

#include "stoker/api/serve/http/answers.hpp"
#include "stoker/api/serve/http/security/access_tokens.hpp"

namespace stoker::serve::http {
namespace {

/// The token of "Bearer TOKEN"; empty if there is none.
std::string_view bearer(std::string_view authorization) noexcept {
  const std::size_t space = authorization.find(' ');
  if (space == authorization.npos ||
      !boost::beast::iequals(authorization.substr(0, space), "Bearer"))
    return {};
  const std::size_t first = authorization.find_first_not_of(' ', space);
  return first == authorization.npos ? std::string_view{} : authorization.substr(first);
}

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
  const std::string_view given = bearer(question.authorization);
  const Opens opened = tokens->opened_by(given);
  if (opened == Opens::all || (!needs_all && opened == Opens::inference)) return nullptr;
  return unauthorized(!given.empty());
}

}  // namespace stoker::serve::http
