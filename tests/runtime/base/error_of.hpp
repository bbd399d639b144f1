// What a call is refused with.
#pragma once

#include <gtest/gtest.h>

#include "stoker/runtime/base/error.hpp"

namespace stoker {

/// The Error that `call` throws; a failure of the test if it throws none.
Error error_of(const auto& call) {
  try {
    static_cast<void>(call());
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no Error was thrown";
  return Error{};
}

ErrorCode code_of(const auto& call) { return error_of(call).code(); }

}  // namespace stoker
