#include "reloads.hpp"

#include <signal.h>

#include <exception>
#include <iostream>

#include "stoker/runtime/base/printable.hpp"

namespace stoker::command_line {

Reloads::Reloads(boost::asio::io_context& loop) : signals_{loop, SIGHUP} { await(); }

void Reloads::await() {
  signals_.async_wait([this](boost::system::error_code failure, int) {
    if (failure) return;
    read();
    await();
  });
}

void Reloads::read() const {
  for (const auto& [part, read] : parts_) {
    try {
      read();
      std::cerr << "read again: " << part << std::endl;
    } catch (const std::exception& error) {
      std::cerr << "stoker: not read again: " << part << ": " << printable(error.what())
                << std::endl;
    }
  }
}

}  // namespace stoker::command_line
