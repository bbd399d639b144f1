// Errors that name what the caller called, and not what that is made of.
//
//     Loader loader = errors_as("fit", [&] { return Loader{data, options}; });
//
// Any thread; what `call` needs.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/runtime/base/error.hpp"

namespace stoker::nn {

/// What `call` returns. An Error that it throws is thrown as one of `op`, with the same code, reason and details, and
/// with the op that it had as the detail "part": a reason may make sense only with it. Other exceptions pass.
template <class F> decltype(auto) errors_as(std::string_view op, const F& call) {
  try {
    return call();
  } catch (const Error& error) {
    if (error.op() == op) throw;
    std::vector<Detail> details{error.details().begin(), error.details().end()};
    const bool named = std::ranges::find(details, "part", &Detail::key) != details.end();
    if (!named && !error.op().empty()) details.push_back({"part", std::string{error.op()}});
    throw Error{std::string{op}, error.code(), std::string{error.reason()}, std::move(details)};
  }
}

}  // namespace stoker::nn
