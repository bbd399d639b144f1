// ONNX models in an Asio program: runs and loading with any completion token (component Stoker::onnx).
//
//     const onnx::Model faces = co_await onnx::async_load(system, "ultraface.onnx", use_awaitable);
//     const onnx::NamedValues inputs{{"input", photo}};
//     const onnx::NamedValues out = co_await faces.async_run(inputs, use_awaitable);
//
// The handler's signature is void(std::exception_ptr, T), so use_awaitable, use_future and
// yield_context throw the Error of a run that failed. Errors that run() and load() throw at the
// call are thrown by the call here, too. See runtime/asio/future_asio.hpp for executors, allocators
// and cancellation. Cancellation only stops the wait; RunOptions::limits end the work. GCC 12
// miscompiles or rejects braced lists within co_await: name inputs and options first.
//
// Threads: any; no call blocks.
#pragma once

#include <filesystem>
#include <utility>

#include "stoker/api/onnx/run/model.hpp"
#include "stoker/runtime/asio/future_asio.hpp"

namespace stoker::onnx {

template <class Token>
auto Model::async_run(const NamedValues& inputs, Token&& token, const RunOptions& options) const {
  return async_get(run(inputs, options), std::forward<Token>(token));
}

/// load() on the pool of `system`.
template <class Token>
auto async_load(const System& system, std::filesystem::path path, Token&& token,
                const LoadOptions& options = {}) {
  return async_get(load(system, std::move(path), options), std::forward<Token>(token));
}

}  // namespace stoker::onnx
