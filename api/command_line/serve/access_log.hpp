// A line on standard error for each answer of a server, written by a thread of its own: a reader that does not read
// holds up no connection.
//
// Threads: add() from any; it never waits. Lines beyond a thousand that wait are left out, and the next line
// says so, or the end.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "stoker/api/serve_http.hpp"

namespace stoker::command_line {

class AccessLog {
 public:
  AccessLog();
  /// Writes what waits.
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  void add(const HttpAccess& access) noexcept;

 private:
  void write();

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  std::uint64_t left_out_ = 0;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace stoker::command_line
