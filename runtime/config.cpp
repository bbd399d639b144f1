#include "stoker/runtime/config.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "stoker/runtime/observe/log.hpp"
#include "stoker/runtime/settings.hpp"

namespace stoker {
namespace {

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

/// The level as it is, or nothing if there is none of this name. The logger reads it by itself.
std::string parse_level(std::string_view name, std::string text) {
  static constexpr std::array levels = {"",        "trace", "debug", "info",     "warn",
                                        "warning", "error", "err",   "critical", "off"};
  const auto is = [&](const char* word) { return text == word; };
  if (std::any_of(levels.begin(), levels.end(), is)) return text;
  warn_ignored(name, text);
  return {};
}

void warn_of_misspelt_names() {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text{*entry};
    const std::string_view name = text.substr(0, text.find('='));
    if (const auto meant = setting_meant_by(name))
      log_warn("there is no such setting",
               {{"name", std::string{name}}, {"did_you_mean", std::string{*meant}}});
  }
}

}  // namespace

Config Config::from_environment() {
  warn_of_misspelt_names();
  return from(environment);
}

Config Config::from(const Lookup& lookup) {
  const auto text = [&](std::string_view name) { return lookup(name).value_or(""); };
  Config config;
  config.device = text("STOKER_DEVICE");
  config.log = parse_level("STOKER_LOG", text("STOKER_LOG"));
  if (const auto threads = lookup("STOKER_THREADS"))
    config.threads = parse_count("STOKER_THREADS", *threads);
  config.isa = text("STOKER_ISA");
  config.flush_subnormals =
      parse_switch("STOKER_FLUSH_SUBNORMALS", text("STOKER_FLUSH_SUBNORMALS"));
  config.observe_socket = text("STOKER_OBSERVE");
  config.validation = parse_switch("STOKER_VALIDATION", text("STOKER_VALIDATION"));
  config.cache_dir = cache_directory(lookup);
  return config;
}

}  // namespace stoker
