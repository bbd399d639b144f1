// How a server tells that a request was refused or has failed, apart from the codes of its protocol.
//
// Pure functions but that those of failures write to the log; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/runtime/base/error.hpp"

namespace stoker::serve {

struct CallFailure {
  enum class Kind : std::uint8_t {
    refused,      ///< the request is wrong
    too_large,    ///< the request is beyond a limit
    unavailable,  ///< not now: too many wait, the server ends, a device is being reopened
    deadline,     ///< the deadline has passed
    cancelled,    ///< the client has cancelled it; nobody reads the answer
    failed,       ///< the model failed
  };
  Kind kind = Kind::failed;
  std::string text = {};  ///< for the client
  /// Of Kind::unavailable: it may go better after so many milliseconds.
  std::uint32_t retry_after_ms = 0;
};

/// What is wrong with a request; as failure_of() if the error is not the client's.
[[nodiscard]] CallFailure refusal_of(const Error& error, std::string_view model);
/// Why the model has computed nothing: that it does not take the inputs is the request's fault.
[[nodiscard]] CallFailure outcome_of(const Error& error, std::string_view model);
/// Why a request that was accepted has no result. What a failed model says may name files and addresses, so the text
/// has only the code and a number, under which the log has the rest.
[[nodiscard]] CallFailure failure_of(const Error& error, std::string_view model);

}  // namespace stoker::serve
