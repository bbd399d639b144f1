// What a script did, kept for the report of `stoker run`.
#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stoker/api/script.hpp"

namespace stoker::command_line {

/// Collects commands and files. What the script prints goes to standard output at once, or is
/// collected, too. On a terminal the number of commands is shown while it runs.
///
/// Threads: the script's process calls the observer; the rest is for after the script has ended.
class Journal final : public ScriptObserver {
 public:
  struct Options {
    bool collect_text = false;
    bool progress = false;
  };
  explicit Journal(Options options) : options_{options} {}

  void on_print(std::string_view text) noexcept override;
  void on_command(const ScriptCommand& command) noexcept override;
  void on_saved(const std::filesystem::path& path, const TensorSpec& spec) noexcept override;

  /// Takes the progress line away.
  void end_progress() noexcept;

  /// For people: the device, each command with its time, and where results were saved.
  void print_report(const DeviceInfo& device) const;
  [[nodiscard]] nlohmann::json to_json() const;

 private:
  struct Saved {
    std::string path;
    TensorSpec spec;
  };

  const Options options_;
  std::mutex mutex_;  // the process may wake on any thread, and the end comes from another
  std::string text_;
  std::vector<ScriptCommand> commands_;
  std::vector<Saved> saved_;
  std::uint64_t count_ = 0;
  std::chrono::steady_clock::time_point shown_{};
  bool line_shown_ = false;
};

}  // namespace stoker::command_line
