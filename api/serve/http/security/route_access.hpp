// Who may ask for what: which token a place of the protocol needs, and what a request without it is answered.
//
// Pure functions; any thread.
#pragma once

#include <cstdint>

#include "stoker/api/serve/http/exchange.hpp"
#include "stoker/api/serve/http/route.hpp"

namespace stoker {

class AccessTokens;  // api/serve/calls/access_tokens.hpp

namespace serve::http {

enum class Access : std::uint8_t {
  open,       ///< health
  inference,  ///< everything else
  control,    ///< what changes the server for others
};

/// The one place that says it.
[[nodiscard]] Access access_to(Place place) noexcept;

/// Null if the request may go on: 401 for no or a wrong token, 403 for control that is off. `tokens` may be null.
[[nodiscard]] HttpAnswerPtr access_refusal(Access needed, const HttpQuestion& question,
                                           const AccessTokens* tokens);

}  // namespace serve::http
}  // namespace stoker
