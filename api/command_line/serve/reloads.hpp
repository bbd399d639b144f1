// What a server reads again on SIGHUP.
//
//     Reloads reloads{loop};
//     reloads.add("tokens", [tokens] { tokens->reload(); });
//
// The signal does not end the process from the constructor on. Each part is read by itself: one that fails is told on
// standard error, and stays as it was.
//
// Threads: one at a time, and add() before the loop runs; parts are read by a thread of the loop. Lifetime: until the
// loop has stopped.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace stoker::command_line {

class Reloads {
 public:
  explicit Reloads(boost::asio::io_context& loop);

  /// `read` may throw.
  void add(std::string part, std::function<void()> read) {
    parts_.emplace_back(std::move(part), std::move(read));
  }

 private:
  void await();
  void read() const;

  boost::asio::signal_set signals_;
  std::vector<std::pair<std::string, std::function<void()>>> parts_;
};

}  // namespace stoker::command_line
