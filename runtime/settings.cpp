#include "stoker/runtime/settings.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker {
namespace {

constexpr std::string_view prefix = "STOKER_";

constexpr std::array all = {
    Setting{"STOKER_DEVICE", "the device to use: cpu, vulkan, vulkan:1, null"},
    Setting{"STOKER_LOG", "trace, debug, info, warn, error, critical, off"},
    Setting{"STOKER_CACHE_DIR", "where compiled pipelines are kept; empty: nowhere"},
    Setting{"STOKER_THREADS", "threads of the executor and of the CPU device"},
    Setting{"STOKER_ISA", "CPU kernels of an older instruction set: v1, v3, v4"},
    Setting{"STOKER_FLUSH_SUBNORMALS", "1: CPU kernels may take the smallest numbers for 0"},
    Setting{"STOKER_OBSERVE", "a path where a program can be observed"},
    Setting{"STOKER_VALIDATION", "1: with Vulkan's validation layers"},
};

}  // namespace

std::span<const Setting> settings() noexcept { return all; }

std::optional<std::string_view> setting_meant_by(std::string_view name) {
  if (!name.starts_with(prefix) || std::ranges::find(all, name, &Setting::name) != all.end())
    return std::nullopt;
  // What all have in common makes none similar.
  const auto own_part = [](std::string_view of) { return of.substr(prefix.size()); };
  std::array<std::string_view, all.size()> parts;
  std::ranges::transform(all, parts.begin(), own_part, &Setting::name);
  const auto nearest = nearest_name(own_part(name), parts);
  if (!nearest) return std::nullopt;
  return all[static_cast<std::size_t>(std::ranges::find(parts, *nearest) - parts.begin())].name;
}

std::optional<std::string> environment(std::string_view name) {
  const char* value = std::getenv(std::string{name}.c_str());
  return value ? std::optional<std::string>{value} : std::nullopt;
}

std::string cache_directory(
    const std::function<std::optional<std::string>(std::string_view name)>& lookup) {
  if (auto directory = lookup("STOKER_CACHE_DIR")) return *std::move(directory);
  const std::string base = lookup("XDG_CACHE_HOME").value_or("");
  // The XDG rules say that relative paths are ignored.
  if (base.starts_with('/')) return base + "/stoker";
  const std::string home = lookup("HOME").value_or("");
  return home.empty() ? home : home + "/.cache/stoker";
}

}  // namespace stoker
