// Tensors in an Asio program: wait for values with any completion token.
//
//     async_eval(loss, [](Result<void> outcome) { … });                  // a handler
//     (co_await async_eval(std::pair{a, b}, use_awaitable)).value();     // a coroutine
//     co_await async_get(loss.computed());                               // the same, throwing
//     const std::vector<float> v = co_await async_get(loss.read<float>());
//
// The handler's signature is void(Result<void>): nothing, or the Error of the first tensor that
// failed. See runtime/asio/future_asio.hpp for executors, allocators and cancellation, which stops
// the wait, not the work. The call itself throws if evaluation cannot start. For a system on a
// host's event loop see api/asio.hpp.
//
// Threads: any.
#pragma once

#include <initializer_list>
#include <utility>

#include "stoker/api/tensor/core/transfer.hpp"
#include "stoker/runtime/asio/future_asio.hpp"

namespace stoker {

/// Evaluates all tensors of a structure (structure.hpp): a tensor, a vector, a pair, … They run as
/// one program, so shared operands are computed once.
template <class S, class Token> auto async_eval(const S& structure, Token&& token) {
  return async_wait(computed(detail::tensors_of(structure)), std::forward<Token>(token));
}
/// GCC 12 does not compile a braced list inside co_await: use std::pair{a, b} there.
template <class Token> auto async_eval(std::initializer_list<Tensor> tensors, Token&& token) {
  return async_wait(computed(tensors), std::forward<Token>(token));
}

}  // namespace stoker
