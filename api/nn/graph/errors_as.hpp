// Errors that name what the caller called, and not what that is made of.
//
//     Loader loader = errors_as("fit", [&] { return Loader{data, options}; });
//
// Any thread; what `call` needs.
#pragma once

#include <string>
#include <string_view>

#include "stoker/runtime/base/error.hpp"

namespace stoker::nn {

/// What `call` returns. An Error that it throws is thrown as one of `op`, with the same code, reason and details; other
/// exceptions pass.
template <class F> decltype(auto) errors_as(std::string_view op, const F& call) {
  try {
    return call();
  } catch (const Error& error) {
    throw Error{std::string{op},
                error.code(),
                std::string{error.reason()},
                {error.details().begin(), error.details().end()}};
  }
}

}  // namespace stoker::nn
