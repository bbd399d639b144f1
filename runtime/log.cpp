#include "stoker/runtime/log.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <optional>
#include <type_traits>

namespace stoker {
namespace {

/// Holds a value that is made at first use and never destroyed.
template <class T> class NeverDestroyed {
 public:
  template <class... Args> explicit NeverDestroyed(Args&&... args) {
    std::construct_at(reinterpret_cast<T*>(storage_), std::forward<Args>(args)...);
  }
  T& operator*() noexcept { return *std::launder(reinterpret_cast<T*>(storage_)); }

 private:
  alignas(T) std::byte storage_[sizeof(T)];
};

/// The logger's only sink: passes lines on to another one, which may be changed at any time
/// (spdlog's own list of sinks may not change while others log).
class SwitchSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  SwitchSink() : target_(std::make_shared<spdlog::sinks::stderr_color_sink_mt>()) {}
  spdlog::sink_ptr exchange(spdlog::sink_ptr target) {
    const std::lock_guard lock{mutex_};
    std::swap(target_, target);
    return target;
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override { target_->log(message); }
  void flush_() override { target_->flush(); }
  void set_pattern_(const std::string& pattern) override { target_->set_pattern(pattern); }
  void set_formatter_(std::unique_ptr<spdlog::formatter> formatter) override {
    target_->set_formatter(std::move(formatter));
  }
  spdlog::sink_ptr target_;
};

struct Logger {
  std::shared_ptr<SwitchSink> sink = std::make_shared<SwitchSink>();
  spdlog::logger logger{"stoker", sink};
  Logger();
};

Logger::Logger() {
  logger.set_pattern("%H:%M:%S.%e %^%l%$ %n: %v");
  const char* wanted = std::getenv("STOKER_LOG");
  const spdlog::level::level_enum level = spdlog::level::from_str(wanted ? wanted : "warning");
  // from_str gives `off` for a word it does not know.
  const bool unknown =
      wanted != nullptr && level == spdlog::level::off && std::string_view{wanted} != "off";
  logger.set_level(unknown ? spdlog::level::warn : level);
  logger.flush_on(spdlog::level::warn);
}

Logger& the_logger() {
  static NeverDestroyed<Logger> logger;
  return *logger;
}

bool needs_quotes(std::string_view value) noexcept {
  return value.empty() || value.find_first_of(" \t\n\"=") != std::string_view::npos;
}

std::string compose(std::string_view message, LogFields fields) {
  std::string line{message};
  for (const LogField& field : fields) {
    line.append(" ").append(field.key).append("=");
    if (!needs_quotes(field.value)) {
      line.append(field.value);
      continue;
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
  return line;
}

void write(spdlog::level::level_enum level, std::string_view message, LogFields fields) noexcept {
  try {
    spdlog::logger& logger = the_logger().logger;
    if (logger.should_log(level)) logger.log(level, std::string_view{compose(message, fields)});
  } catch (...) {  // nowhere left to report it
  }
}

}  // namespace

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

bool log_enabled(LogLevel level) noexcept {
  return log().should_log(static_cast<spdlog::level::level_enum>(level));
}
void set_log_level(LogLevel level) noexcept {
  log().set_level(static_cast<spdlog::level::level_enum>(level));
}
LogLevel log_level() noexcept { return static_cast<LogLevel>(log().level()); }

spdlog::logger& log() noexcept { return the_logger().logger; }

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
