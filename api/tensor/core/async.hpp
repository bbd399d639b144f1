// Tensors inside an Asio program: any completion token is told when values are computed.
//
//     async_eval(loss, [](Result<void> outcome) { … });                  // a handler
//     (co_await async_eval(std::pair{a, b}, use_awaitable)).value();     // a coroutine
//     co_await async_get(loss.computed());                               // the same, throwing
//     const std::vector<float> v = co_await async_get(loss.read<float>());
//
// The handler's signature is void(Result<void>): nothing, or the Error of the first tensor that failed.
// See runtime/asio/future_asio.hpp for executors, allocators and cancelling, which stops the waiting, not the
// work. What evaluating refuses is thrown by the call. See api/asio.hpp for a system on a host's loop.
//
// Threads: any.
#pragma once

#include <initializer_list>
#include <utility>

#include "stoker/api/tensor/core/transfer.hpp"
#include "stoker/runtime/asio/future_asio.hpp"

namespace stoker {

/// All tensors of a structure (structure.hpp): a tensor, a vector, a pair, … They run as one program, so
/// that what they share is computed once.
template <class S, class Token> auto async_eval(const S& structure, Token&& token) {
  return async_wait(computed(detail::tensors_of(structure)), std::forward<Token>(token));
}
/// GCC 12 compiles no list inside a co_await: take std::pair{a, b} there.
template <class Token> auto async_eval(std::initializer_list<Tensor> tensors, Token&& token) {
  return async_wait(computed(tensors), std::forward<Token>(token));
}

}  // namespace stoker
