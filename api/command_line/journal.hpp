// What a script did, kept for the report of `stoker run`.
#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stoker/api/script.hpp"
#include "stoker/runtime/observe/trace.hpp"

namespace stoker::command_line {

/// Collects the first commands and files. What the script prints goes to standard output at once, on a
/// terminal as printable() text, or is collected, too, and then counts as the script's memory. On a
/// terminal the number of commands is shown while it runs.
///
/// Threads: the script's process calls the observer; the rest is for after the script has ended.
class Journal final : public ScriptObserver {
 public:
  struct Options {
    bool collect_text = false;
    bool progress = false;
    /// Switched off once the journal has kept as many commands as it does, or null.
    TraceRecorder* trace = nullptr;
  };
  explicit Journal(Options options);

  void on_print(std::string_view text) noexcept override;
  [[nodiscard]] bool keeps_text() const noexcept override { return options_.collect_text; }
  void on_command(const ScriptCommand& command) noexcept override;
  void on_saved(const std::filesystem::path& path, const TensorSpec& spec) noexcept override;

  /// Takes the progress line away.
  void end_progress() noexcept;

  /// For people: the device, each command with its time, and where results were saved.
  void print_report(const DeviceInfo& device) const;
  /// What was printed moves into it.
  [[nodiscard]] nlohmann::json take_json();

 private:
  struct Saved {
    std::string path;
    TensorSpec spec;
  };

  const Options options_;
  const bool shown_on_terminal_;
  std::mutex mutex_;  // the process may wake on any thread, and the end comes from another
  std::string text_;
  std::vector<ScriptCommand> commands_;
  std::vector<Saved> saved_;
  std::uint64_t count_ = 0;        // of all commands
  std::uint64_t saved_count_ = 0;  // of all files
  std::chrono::steady_clock::time_point shown_{};
  bool line_shown_ = false;
};

}  // namespace stoker::command_line
