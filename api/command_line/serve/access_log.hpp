// A line for each answer of a server, on standard error or at the end of a file, written by a thread of its own: a
// reader that does not read holds up no connection.
//
//     2026-11-28T09:12:03.123Z POST /v2/models/digits/infer 200 131 bytes 0.412 ms model digits 1 rows 1 of 4 queue …
//     {"time":"2026-11-28T09:12:03.123Z","method":"POST","target":…,"status":200,…}
//
// Threads: add() from any; it never waits. Lines beyond a thousand that wait are left out, as are those that cannot be
// written, and the next line says so, or the end.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <fstream>
#include <mutex>
#include <ostream>
#include <string>
#include <thread>

#include "stoker/api/serve_http.hpp"

namespace stoker::command_line {

enum class AccessLogFormat : std::uint8_t { text, json };

class AccessLog {
 public:
  /// `file`: "-" for standard error. Throws io_error for a file that cannot be opened.
  AccessLog(const std::string& file, AccessLogFormat format);
  /// Writes what waits.
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  void add(const HttpAccess& access) noexcept;

 private:
  [[nodiscard]] std::string left_out(std::uint64_t lines) const;
  void write();

  const AccessLogFormat format_;
  std::ofstream file_;
  std::ostream* const to_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  std::uint64_t left_out_ = 0;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace stoker::command_line
