#include "script_words.hpp"

#include <iostream>
#include <iterator>

namespace stoker::command_line {

void ScriptWords::add_device(CLI::App& verb) {
  verb.add_option("--device", device,
                  "cpu, vulkan, vulkan:1, null; default: STOKER_DEVICE or the best");
}

void ScriptWords::add_limits(CLI::App& verb) {
  verb.add_option("--allow", allow, "A further directory whose files it may use; may be repeated")
      ->type_name("DIR")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  verb.add_option("--instructions", limits.instructions,
                  "Lua instructions it may use; 0: any number")
      ->capture_default_str();
  verb.add_option("--memory", memory_mib, "MiB its Lua state may use; 0: any")
      ->capture_default_str();
  verb.add_option("--buffers", buffers_mib, "MiB of device memory it may hold; 0: any")
      ->capture_default_str();
  verb.add_option("--time-limit", time_limit_s, "Seconds it may run; 0: any");
}

void ScriptWords::add_output(CLI::App& verb) {
  verb.add_flag("--quiet", quiet, "Print only what the script prints");
  verb.add_flag("--json", json, "Print what happened as JSON");
}

void ScriptWords::check(std::size_t files) const {
  for (std::size_t i = files; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string::npos || equals == 0)
      throw CLI::ValidationError{"arguments of a script are written name=value, not " + words[i]};
  }
  constexpr double longest_s = 1e9;  // which nanoseconds still count
  if (!(time_limit_s >= 0 && time_limit_s <= longest_s))
    throw CLI::ValidationError{"--time-limit: seconds from 0 to 1e9, not " +
                               std::to_string(time_limit_s)};
}

ScriptOptions ScriptWords::options(std::size_t files,
                                   const std::optional<std::string>& file) const {
  ScriptOptions script;
  for (std::size_t i = files; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    script.args.emplace_back(words[i].substr(0, equals), words[i].substr(equals + 1));
  }
  script.limits = limits;
  script.limits.memory_bytes = memory_mib << 20;
  script.limits.buffer_bytes = buffers_mib << 20;
  if (time_limit_s > 0)
    script.time_limit = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>{time_limit_s});
  script.allowed_directories.push_back(std::filesystem::current_path());
  if (file && *file != "-")
    script.allowed_directories.push_back(std::filesystem::absolute(*file).parent_path());
  for (const std::string& folder : allow) script.allowed_directories.emplace_back(folder);
  return script;
}

ScriptSource script_source(const std::string& file) {
  if (file == "-")
    return {"stdin", std::string{std::istreambuf_iterator<char>{std::cin},
                                 std::istreambuf_iterator<char>{}}};
  return ScriptSource::from_file(file).value();
}

}  // namespace stoker::command_line
