#include "stoker/runtime/config.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "stoker/runtime/log.hpp"

namespace stoker {
namespace {

std::optional<std::string> environment(std::string_view name) {
  const char* value = std::getenv(std::string{name}.c_str());
  return value ? std::optional<std::string>{value} : std::nullopt;
}

void warn_ignored(std::string_view name, const std::string& value) {
  log_warn("setting ignored: its value makes no sense",
           {{"name", std::string{name}}, {"value", value}});
}

unsigned parse_count(std::string_view name, const std::string& text) {
  unsigned count = 0;
  constexpr unsigned most = 4096;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc{} && end == text.data() + text.size() && count <= most) return count;
  warn_ignored(name, text);
  return 0;
}

bool parse_switch(std::string_view name, const std::string& text) {
  static constexpr std::array on = {"1", "true", "on", "yes"};
  static constexpr std::array off = {"", "0", "false", "off", "no"};
  const auto is = [&](const char* word) { return text == word; };
  if (std::any_of(on.begin(), on.end(), is)) return true;
  if (!std::any_of(off.begin(), off.end(), is)) warn_ignored(name, text);
  return false;
}

}  // namespace

Config Config::from_environment() { return from(environment); }

Config Config::from(const Lookup& lookup) {
  const auto text = [&](std::string_view name) { return lookup(name).value_or(""); };
  Config config;
  config.device = text("STOKER_DEVICE");
  config.log = text("STOKER_LOG");
  if (const auto threads = lookup("STOKER_THREADS"))
    config.threads = parse_count("STOKER_THREADS", *threads);
  config.isa = text("STOKER_ISA");
  config.flush_subnormals =
      parse_switch("STOKER_FLUSH_SUBNORMALS", text("STOKER_FLUSH_SUBNORMALS"));
  config.observe_socket = text("STOKER_OBSERVE");
  config.validation = parse_switch("STOKER_VALIDATION", text("STOKER_VALIDATION"));
  if (const auto directory = lookup("STOKER_CACHE_DIR")) {
    config.cache_dir = *directory;  // set but empty: no cache
  } else if (const std::string base = text("XDG_CACHE_HOME");
             !base.empty() && base.front() == '/') {
    config.cache_dir = base + "/stoker";  // the XDG rules say that relative paths are ignored
  } else if (const std::string home = text("HOME"); !home.empty()) {
    config.cache_dir = home + "/.cache/stoker";
  }
  return config;
}

}  // namespace stoker
