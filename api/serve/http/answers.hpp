// The answers that consist of little: a JSON text, a refusal, a failure.
//
// Pure functions but for failed(), which writes to the log; any thread.
#pragma once

#include <string>
#include <string_view>

#include "stoker/api/serve/http/exchange.hpp"
#include "stoker/runtime/base/error.hpp"

namespace stoker::serve::http {

[[nodiscard]] HttpAnswerPtr json_answer(std::string body, unsigned status = 200);
/// {"error":…}
[[nodiscard]] HttpAnswerPtr refusal(unsigned status, std::string_view reason);
/// 503 with Retry-After: it may go better after so many seconds.
[[nodiscard]] HttpAnswerPtr unavailable(std::string_view reason, unsigned retry_after_s = 1);

/// 429 with Retry-After: this client asks for too much.
[[nodiscard]] HttpAnswerPtr too_many(std::string_view reason, unsigned retry_after_s = 1);

/// What is wrong with a request: 400, or another status where the error is not the client's.
[[nodiscard]] HttpAnswerPtr refused(const Error& error, std::string_view model);
/// The outcome of a run without outputs: 400 if the inputs are such as only the model can find to be wrong, else as
/// failed().
[[nodiscard]] HttpAnswerPtr without_result(const Error& error, std::string_view model);
/// Why a request that was accepted has no result. What a failed model says may name files and addresses, so the answer
/// has only the code and a number, under which the log has the rest.
[[nodiscard]] HttpAnswerPtr failed(const Error& error, std::string_view model);

}  // namespace stoker::serve::http
