// Work on a program's event loop whose failure must not end the loop: it is logged.
//
// Threads: any.
#pragma once

#include <exception>
#include <string_view>

#include "stoker/runtime/observe/log.hpp"

namespace stoker::serve::http {

/// Whether it did not throw.
template <class F> bool contained(std::string_view what, F&& function) noexcept {
  try {
    function();
    return true;
  } catch (const std::exception& error) {
    log_failure(LogLevel::error, what, error);
  } catch (...) {
    log_error(what);
  }
  return false;
}

}  // namespace stoker::serve::http
