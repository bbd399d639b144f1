#include "script_words.hpp"

#include <unistd.h>

#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

#include "stoker/api/command_line/numbers.hpp"
#include "stoker/api/command_line/output.hpp"
#include "stoker/api/command_line/verbs.hpp"

namespace stoker::command_line {
namespace {

/// For what a script leaves behind.
constexpr std::chrono::seconds grace{1};

}  // namespace

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
  verb.add_flag("--no-kernels", no_kernels,
                "It may define no kernels in GLSL, which no limit holds");
  add_bounds(verb);
  add_seconds(verb, "--time-limit", 1e-9, time_limit_s, "Seconds the script may run; 0: any");
}

void ScriptWords::add_bounds(CLI::App& verb) {
  const auto add = [&](const char* name, std::uint64_t& value, Whole range, const char* summary) {
    add_whole(
        verb, name, range, [&value](std::uint64_t given) { value = given; }, summary)
        ->default_str(std::to_string(value));
  };
  constexpr Whole mebibytes{.most = std::numeric_limits<std::uint64_t>::max() >> 20};
  add("--instructions", limits.instructions, {}, "Lua instructions it may use; 0: any number");
  add("--memory", memory_mib, mebibytes, "MiB its Lua state may use; 0: any");
  add("--buffers", buffers_mib, mebibytes, "MiB of device memory it may hold; 0: any");
}

ScriptLimits ScriptWords::bounds() const {
  ScriptLimits given = limits;
  given.memory_bytes = memory_mib << 20;
  given.buffer_bytes = buffers_mib << 20;
  return given;
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
}

ScriptOptions ScriptWords::options(std::size_t files,
                                   const std::optional<std::string>& file) const {
  ScriptOptions script;
  for (std::size_t i = files; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    script.args.emplace_back(words[i].substr(0, equals), words[i].substr(equals + 1));
  }
  script.limits = bounds();
  if (time_limit_s > 0)
    script.time_limit = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>{time_limit_s});
  script.allowed_directories.push_back(std::filesystem::current_path());
  if (file && *file != "-") {
    script.script_directory = std::filesystem::absolute(*file).parent_path();
    script.allowed_directories.push_back(script.script_directory);
  }
  for (const std::string& folder : allow) script.allowed_directories.emplace_back(folder);
  if (!no_kernels) script.kernels = script_kernels();
  return script;
}

ScriptEnd::~ScriptEnd() {
  if (end_ || interrupts_.received() == 0) return;
  std::cout.flush();
  interrupts_.end_at(Interrupts::End{.at = std::chrono::steady_clock::now() + grace,
                                     .code = interrupted + interrupts_.received()});
}

ScriptEnd::ScriptEnd(Interrupts& interrupts, const ScriptWords& words) : interrupts_{interrupts} {
  if (words.time_limit_s == 0) return;
  const Error error{"script", ErrorCode::deadline_exceeded,
                    "the script ran longer than its time limit, and what it did cannot be stopped"};
  end_ = Interrupts::End{
      .at = std::chrono::steady_clock::now() + grace +
            std::chrono::duration_cast<std::chrono::nanoseconds>(
                std::chrono::duration<double>{words.time_limit_s}),
      .code = out_of_budget,
      .descriptor = words.json ? STDOUT_FILENO : STDERR_FILENO,
      .last_words = words.json ? nlohmann::json{{"error", to_json(error)}}.dump(2) + "\n"
                               : "stoker: " + describe(error)};
  interrupts_.end_at(end_);
}

void ScriptEnd::has_come(int code) {
  if (!end_) return;
  end_->code = code;
  end_->last_words.clear();  // the report says it
  interrupts_.end_at(code == ok ? std::nullopt : end_);
}

ScriptSource script_source(const std::string& file) {
  if (file == "-") return ScriptSource::from_stream(std::cin, "stdin");
  return ScriptSource::from_file(file);
}

std::string_view permission_hint(const Error& error) noexcept {
  if (error.code() != ErrorCode::permission_denied) return {};
  return error.op() == "kernel" ? "  They are refused because of --no-kernels.\n"
                                : "  Files in further directories are allowed with --allow DIR.\n";
}

}  // namespace stoker::command_line
