// Logging: one spdlog logger named "stoker", which writes to stderr by default.
//
// Messages are short sentences followed by key=value fields; values with spaces are quoted:
//     device lost device=vulkan:0 reason="kernel ran past its deadline"
// The level comes from STOKER_LOG (trace debug info warn error critical off; default warn), read
// when the logger is first used. The logger is never destroyed, so code may log while the process
// exits. It is usable in a child of fork().
//
// Repeated failures do not fill the disk: of warnings and errors with the same message, 100 are
// written at once, then one each second, with the number of suppressed lines (left_out=1234).
//
// Threads: every function may be called from any thread; none throws.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
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

/// Logs with the field `error`, for functions that must not throw; without memory the line is
/// dropped.
void log_failure(LogLevel level, std::string_view message, const std::exception& error) noexcept;

/// Whether messages of this level are written: ask before building costly fields.
[[nodiscard]] bool log_enabled(LogLevel level) noexcept;
void set_log_level(LogLevel level) noexcept;
[[nodiscard]] LogLevel log_level() noexcept;

/// Rate limit for each kind of line: a hundred at once, and one more for each second that passes.
/// Threads: one at a time.
class LineLimit {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr std::uint64_t burst = 100;
  /// How many kinds are tracked; beyond that, the one silent for longest is forgotten.
  static constexpr std::size_t most_kinds = 256;

  /// nullopt: suppress this line. Else the number of lines suppressed since the last one written.
  [[nodiscard]] std::optional<std::uint64_t> admit(std::string_view kind, time_point now);
  void forget() { kinds_.clear(); }

 private:
  struct Kind {
    std::uint64_t left = burst;  ///< lines that may be written
    std::uint64_t left_out = 0;
    time_point since{};  ///< the last whole second that was counted
  };
  std::map<std::string, Kind, std::less<>> kinds_;
};

/// The logger itself, without that limit; include <spdlog/spdlog.h> to use it (levels, sinks, patterns).
[[nodiscard]] spdlog::logger& log() noexcept;

/// While it lives, it captures all lines of `level` and above instead of stderr. For tests; one at
/// a time.
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
