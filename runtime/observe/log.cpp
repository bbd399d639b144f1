#include "stoker/runtime/observe/log.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "stoker/runtime/base/printable.hpp"
#include "stoker/runtime/base/process_mutex.hpp"

namespace stoker {
namespace {

ProcessMutex logger_mutex;  // to make it, and to write

/// The logger's only sink: passes lines on to another one, which may be changed at any time
/// (spdlog's own list of sinks may not change while others log). It calls that one under our lock. stderr
/// needs no other: spdlog's own may be held by the host's loggers in a child of fork().
class SwitchSink final : public spdlog::sinks::sink {
 public:
  SwitchSink() : target_(std::make_shared<spdlog::sinks::stderr_color_sink_st>()) {
    target_->set_pattern("%H:%M:%S.%e %^%l%$ %n: %v");
  }
  spdlog::sink_ptr exchange(spdlog::sink_ptr target) {
    const std::lock_guard lock{logger_mutex};
    limit_.forget();
    std::swap(target_, target);
    return target;
  }
  std::optional<std::uint64_t> admit(std::string_view message) {
    const std::lock_guard lock{logger_mutex};
    return limit_.admit(message, std::chrono::steady_clock::now());
  }
  void log(const spdlog::details::log_msg& message) override {
    const std::lock_guard lock{logger_mutex};
    target_->log(message);
  }
  void flush() override {
    const std::lock_guard lock{logger_mutex};
    target_->flush();
  }
  void set_pattern(const std::string& pattern) override {
    const std::lock_guard lock{logger_mutex};
    target_->set_pattern(pattern);
  }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
    const std::lock_guard lock{logger_mutex};
    target_->set_formatter(std::move(formatter));
  }

 private:
  spdlog::sink_ptr target_;
  LineLimit limit_;
};

struct Logger {
  std::shared_ptr<SwitchSink> sink = std::make_shared<SwitchSink>();
  std::shared_ptr<spdlog::logger> logger = std::make_shared<spdlog::logger>("stoker", sink);
  Logger();
};

Logger::Logger() {
  const char* wanted = std::getenv("STOKER_LOG");
  const spdlog::level::level_enum level = spdlog::level::from_str(wanted ? wanted : "warning");
  // from_str gives `off` for a word it does not know.
  const bool unknown =
      wanted != nullptr && level == spdlog::level::off && std::string_view{wanted} != "off";
  logger->set_level(unknown ? spdlog::level::warn : level);
  logger->flush_on(spdlog::level::warn);
}

// Never destroyed. Not a static object of the function: one that another thread was making when the
// process forked stays half made in the child.
constinit std::atomic<const Logger*> made_logger{nullptr};

const Logger& the_logger() {
  if (const Logger* made = made_logger.load(std::memory_order_acquire)) return *made;
  const std::lock_guard lock{logger_mutex};
  if (!made_logger.load(std::memory_order_relaxed))
    made_logger.store(std::make_unique<const Logger>().release(), std::memory_order_release);
  return *made_logger.load(std::memory_order_relaxed);
}

bool needs_quotes(std::string_view value) noexcept {
  return value.empty() || value.find_first_of(" \t\n\"=") != std::string_view::npos;
}

void append(std::string& line, const LogField& field) {
  line.append(" ").append(field.key).append("=");
  if (!needs_quotes(field.value)) {
    line.append(field.value);
    return;
  }
  line.push_back('"');
  for (const char c : field.value) {
    if (c == '"' || c == '\\') line.push_back('\\');
    if (c == '\n')
      line.append("\\n");
    else
      line.push_back(c);
  }
  line.push_back('"');
}

void write(spdlog::level::level_enum level, std::string_view message, LogFields fields) noexcept {
  try {
    const Logger& to = the_logger();
    if (!to.logger->should_log(level)) return;
    // Somebody who asked for more wants all of it.
    const bool limited = level >= spdlog::level::warn;
    const auto left_out = limited ? to.sink->admit(message) : std::uint64_t{0};
    if (!left_out) return;
    std::string line{message};
    for (const LogField& field : fields) append(line, field);
    if (*left_out > 0) append(line, {"left_out", std::to_string(*left_out)});
    // What scripts warn of and files are called reaches the terminal.
    line = printable(line);
    to.logger->log(level, std::string_view{line});
  } catch (...) {  // nowhere left to report it
  }
}

}  // namespace

std::optional<std::uint64_t> LineLimit::admit(std::string_view kind, time_point now) {
  auto at = kinds_.find(kind);
  if (at == kinds_.end()) {
    if (kinds_.size() >= most_kinds)
      kinds_.erase(std::min_element(kinds_.begin(), kinds_.end(), [](const auto& a, const auto& b) {
        return a.second.since < b.second.since;
      }));
    at = kinds_.emplace(kind, Kind{.since = now}).first;
  }
  Kind& lines = at->second;
  const auto passed = std::chrono::floor<std::chrono::seconds>(now - lines.since);
  lines.since += passed;
  lines.left = std::min(burst, lines.left + static_cast<std::uint64_t>(passed.count()));
  if (lines.left == 0) {
    ++lines.left_out;
    return std::nullopt;
  }
  --lines.left;
  return std::exchange(lines.left_out, 0);
}

static_assert(static_cast<int>(LogLevel::warn) == SPDLOG_LEVEL_WARN);
static_assert(static_cast<int>(LogLevel::off) == SPDLOG_LEVEL_OFF);

void log_debug(std::string_view message, LogFields fields) noexcept {
  write(spdlog::level::debug, message, fields);
}
void log_info(std::string_view message, LogFields fields) noexcept {
  write(spdlog::level::info, message, fields);
}
void log_warn(std::string_view message, LogFields fields) noexcept {
  write(spdlog::level::warn, message, fields);
}
void log_error(std::string_view message, LogFields fields) noexcept {
  write(spdlog::level::err, message, fields);
}

void log_failure(LogLevel level, std::string_view message, const std::exception& error) noexcept {
  try {
    write(static_cast<spdlog::level::level_enum>(level), message, {{"error", error.what()}});
  } catch (...) {  // no memory to say it
  }
}

bool log_enabled(LogLevel level) noexcept {
  return log().should_log(static_cast<spdlog::level::level_enum>(level));
}
void set_log_level(LogLevel level) noexcept {
  log().set_level(static_cast<spdlog::level::level_enum>(level));
}
LogLevel log_level() noexcept { return static_cast<LogLevel>(log().level()); }

spdlog::logger& log() noexcept { return *the_logger().logger; }

/// A sink that collects lines, and what has to be restored afterwards.
struct LogCapture::Impl final : spdlog::sinks::base_sink<std::mutex> {
  void sink_it_(const spdlog::details::log_msg& message) override {
    const auto level = spdlog::level::to_string_view(message.level);
    lines.emplace_back(std::string{level.data(), level.size()} + " " +
                       std::string{message.payload.data(), message.payload.size()});
  }
  void flush_() override {}
  std::vector<std::string> copy() {
    const std::lock_guard lock{mutex_};
    return lines;
  }

  std::vector<std::string> lines;
  spdlog::sink_ptr sink_before;
  LogLevel level_before = LogLevel::warn;
};

LogCapture::LogCapture(LogLevel level) : impl_(std::make_shared<Impl>()) {
  impl_->level_before = log_level();
  impl_->sink_before = the_logger().sink->exchange(impl_);
  set_log_level(level);
}

LogCapture::~LogCapture() {
  set_log_level(impl_->level_before);
  the_logger().sink->exchange(impl_->sink_before);
}

std::vector<std::string> LogCapture::lines() const { return impl_->copy(); }

bool LogCapture::contains(std::string_view text) const {
  const std::vector<std::string> all = lines();
  return std::any_of(all.begin(), all.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

}  // namespace stoker
