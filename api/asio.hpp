// Stoker inside an Asio program: completion tokens, coroutines, and a host's event loop.
//
//     boost::asio::io_context loop;
//     stoker::SystemOptions options;
//     stoker::use_event_loop(options, loop.get_executor());   // no thread of the host is blocked
//     stoker::System system{options};
//     ...
//     stoker::Command command = device.submit(stoker::kernels::Relu{}, {x}, y);
//     stoker::async_wait(command, boost::asio::bind_executor(loop, [](stoker::Result<void> outcome) { … }));
//     co_await stoker::async_get(command, boost::asio::use_awaitable);           // throws the Error
//
// Handlers run on their associated executor. A plain function has no associated executor: it runs
// on one of Asio's own threads and does not keep the loop alive. See runtime/asio/future_asio.hpp
// for the signatures.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "stoker/api/command.hpp"
#include "stoker/api/system.hpp"
#include "stoker/runtime/asio/future_asio.hpp"

namespace stoker {

/// Makes a system run its actors, continuations and timers on the host's executor; the system
/// starts no threads for them. The execution context must outlive the system.
void use_event_loop(SystemOptions& options, boost::asio::any_io_executor executor);

/// Waits for a command with any completion token; handler signature void(Result<void>).
template <class Token>
auto async_wait(const Command& command, Token&& token,
                OnCancel on_cancel = OnCancel::stop_waiting) {
  return async_wait(command.future(), std::forward<Token>(token), on_cancel);
}

/// As async_wait, but failures are thrown: handler signature void(std::exception_ptr).
template <class Token>
auto async_get(const Command& command, Token&& token, OnCancel on_cancel = OnCancel::stop_waiting) {
  return async_get(command.future(), std::forward<Token>(token), on_cancel);
}

}  // namespace stoker
