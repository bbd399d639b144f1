// Models of any kind in an Asio program: predictions and loading with any completion token
// (component Stoker::model).
//
//     const AnyModel faces = co_await async_load_model(system, "ultraface.onnx", use_awaitable);
//     const NamedValues inputs{{"input", photo}};
//     const NamedValues out = co_await faces.async_predict(inputs, use_awaitable);
//
// The handler's signature is void(std::exception_ptr, T), so use_awaitable, use_future and
// yield_context throw the Error. Errors that predict() and load_model() throw at the call are
// thrown by the call here, too. See runtime/asio/future_asio.hpp for executors, allocators and
// cancellation. Cancellation only stops the wait; PredictOptions::limits end the work. GCC 12
// miscompiles or rejects braced lists within co_await: name the inputs first.
//
// Threads: any; no call blocks.
#pragma once

#include <filesystem>
#include <utility>

#include "stoker/api/model/core/model.hpp"
#include "stoker/runtime/asio/future_asio.hpp"

namespace stoker {

template <class Token>
auto AnyModel::async_predict(const NamedValues& inputs, Token&& token,
                             const PredictOptions& options) const {
  return async_get(predict(inputs, options), std::forward<Token>(token));
}

/// load_model() on the pool of `system`.
template <class Token>
auto async_load_model(const System& system, std::filesystem::path path, Token&& token,
                      const LoadModelOptions& options = {}) {
  return async_get(load_model(system, std::move(path), options), std::forward<Token>(token));
}

}  // namespace stoker
