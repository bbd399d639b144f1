// Logging: one spdlog logger named "stoker", to stderr unless told otherwise.
//
// Messages are short sentences followed by key=value fields; values with spaces are quoted:
//     device lost device=vulkan:0 reason="kernel ran past its deadline"
// The level comes from STOKER_LOG (trace debug info warn error critical off; default warn), read
// when the logger is first used. The logger is never destroyed, so that anything may log while the
// process exits.
//
// Threads: every function may be called from any thread; none throws.
#pragma once

#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace spdlog {
class logger;
}

namespace stoker {

/// One fact beside a message. Numbers are given as std::to_string(n).
struct LogField {
  std::string_view key;
  std::string value;
};
using LogFields = std::initializer_list<LogField>;

enum class LogLevel : int { trace, debug, info, warn, error, critical, off };

void log_debug(std::string_view message, LogFields fields = {}) noexcept;
void log_info(std::string_view message, LogFields fields = {}) noexcept;
void log_warn(std::string_view message, LogFields fields = {}) noexcept;
void log_error(std::string_view message, LogFields fields = {}) noexcept;

/// Whether messages of this level are written: ask before building costly fields.
[[nodiscard]] bool log_enabled(LogLevel level) noexcept;
void set_log_level(LogLevel level) noexcept;
[[nodiscard]] LogLevel log_level() noexcept;

/// The logger itself; include <spdlog/spdlog.h> to use it (levels, sinks, patterns).
[[nodiscard]] spdlog::logger& log() noexcept;

/// While it lives, lines go here instead of to stderr, and every level from `level` up is taken.
/// For tests; one at a time.
class LogCapture {
 public:
  explicit LogCapture(LogLevel level = LogLevel::debug);
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  /// "level message key=value", oldest first.
  [[nodiscard]] std::vector<std::string> lines() const;
  [[nodiscard]] bool contains(std::string_view text) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace stoker
