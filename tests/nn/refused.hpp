// What calls are refused with.
#pragma once

#include <gtest/gtest.h>

#include "stoker/runtime/base/error.hpp"

namespace stoker::nn {

/// The Error that `call` throws; a failure of the test if it throws none.
template <class F> Error error_of(const F& call) {
  try {
    (void)call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}
template <class F> ErrorCode code_of(const F& call) { return error_of(call).code(); }

}  // namespace stoker::nn
