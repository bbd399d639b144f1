// Servings in an Asio program: requests with any completion token (component Stoker::serve).
//
//     const NamedValues inputs{{"input", photo}};
//     const NamedValues out = co_await faces.async_run(inputs, use_awaitable, {.deadline = 200ms});
//
// The handler's signature is void(std::exception_ptr, NamedValues), so use_awaitable, use_future and yield_context
// throw the Error. What run() throws at the call is thrown by the call here, too. A cancellation slot cancels the
// request itself, not only the wait. See runtime/asio/future_asio.hpp for executors and allocators. GCC 12 miscompiles
// or rejects braced lists within co_await: name the inputs first.
//
// Threads: any; no call blocks.
#pragma once

#include <utility>

#include "stoker/api/serve/serving.hpp"
#include "stoker/runtime/asio/future_asio.hpp"

namespace stoker {

template <class Token>
auto Serving::async_run(const NamedValues& inputs, Token&& token,
                        const ServingRequestOptions& options) const {
  return async_get(run(inputs, options), std::forward<Token>(token), OnCancel::cancel_work);
}

}  // namespace stoker
