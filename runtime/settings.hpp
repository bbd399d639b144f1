// The environment variables that Stoker reads.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stoker {

struct Setting {
  std::string_view name;
  std::string_view summary;  ///< what it sets, for --help
};

/// All of them.
[[nodiscard]] std::span<const Setting> settings() noexcept;

/// Which setting is meant by a variable of this name, if it is none but looks as if it was meant to
/// be one.
[[nodiscard]] std::optional<std::string_view> setting_meant_by(std::string_view name);

/// The value of an environment variable.
[[nodiscard]] std::optional<std::string> environment(std::string_view name);

/// STOKER_CACHE_DIR, else $XDG_CACHE_HOME/stoker, else ~/.cache/stoker; empty: no cache on disk.
[[nodiscard]] std::string cache_directory(
    const std::function<std::optional<std::string>(std::string_view name)>& lookup = environment);

}  // namespace stoker
