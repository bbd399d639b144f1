// What the verbs that run a script have in common: its arguments, its limits, its directories.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/api/command_line/interrupts.hpp"
#include "stoker/api/script.hpp"

namespace stoker::command_line {

struct ScriptWords {
  std::vector<std::string> words;  ///< the file (unless there is code), then name=value
  std::string device;
  std::vector<std::string> allow;
  ScriptLimits limits;
  std::uint64_t memory_mib = ScriptLimits{}.memory_bytes >> 20;
  std::uint64_t buffers_mib = ScriptLimits{}.buffer_bytes >> 20;
  double time_limit_s = 0;
  bool no_kernels = false;
  bool quiet = false;
  bool json = false;

  /// Adds --device, with add_limits() those that bound the script, with add_output() --quiet and --json. add_bounds()
  /// adds those of add_limits() that are ScriptLimits.
  void add_device(CLI::App& verb);
  void add_bounds(CLI::App& verb);
  void add_limits(CLI::App& verb);
  void add_output(CLI::App& verb);

  [[nodiscard]] ScriptLimits bounds() const;
  /// Throws a CLI::Error for what the parser cannot see. The first `files` words are files.
  void check(std::size_t files) const;
  /// The script may use the current directory, those of --allow and that of `file`, if there is
  /// one. It may define kernels unless --no-kernels says otherwise.
  [[nodiscard]] ScriptOptions options(std::size_t files,
                                      const std::optional<std::string>& file) const;
};

/// Ends the process a second after the time limit of its script, if the script, its work or its device
/// has not ended by then: what they wait for may never come. Ends it a second after its own destruction, too, if
/// a signal has come: what the script left behind, such as the compiler of a kernel, may work for minutes.
class ScriptEnd {
 public:
  /// The script starts now.
  ScriptEnd(Interrupts& interrupts, const ScriptWords& words);
  /// All has been said; its host is about to be destroyed.
  ~ScriptEnd();
  ScriptEnd(const ScriptEnd&) = delete;
  ScriptEnd& operator=(const ScriptEnd&) = delete;
  /// The script has ended and the process will answer `code`: at any time if that is `ok`.
  void has_come(int code);

 private:
  Interrupts& interrupts_;
  std::optional<Interrupts::End> end_;
};

/// The script of a file, or for "-" that of the standard input. Throws what from_file() and from_stream()
/// say.
[[nodiscard]] ScriptSource script_source(const std::string& file);

/// A line that names the option by which the script might do what `error` refused it; else empty.
[[nodiscard]] std::string_view permission_hint(const Error& error) noexcept;

}  // namespace stoker::command_line
