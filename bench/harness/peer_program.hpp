// A peer that is measured by a program of its own: `PROGRAM ROW SAMPLES` prints one sample a line, in
// the row's unit, and ends. A process for each row and turn: all begin with a fresh heap, and nobody's
// idle threads poll while another is measured.
//
// Threads: one at a time.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/bench/harness/harness.hpp"

namespace stoker::bench {

class PeerProgram {
 public:
  PeerProgram(std::string name, std::vector<std::string> command)
      : name_{std::move(name)}, command_{std::move(command)} {}
  /// One that is not there, and why.
  [[nodiscard]] static PeerProgram absent(std::string name, std::string why);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Empty if it is there.
  [[nodiscard]] const std::string& why_absent() const noexcept { return why_absent_; }
  /// Runs it. Throws std::system_error if it cannot be started, std::runtime_error if it fails or
  /// takes longer than two minutes.
  [[nodiscard]] Samples run(std::string_view row, int samples) const;

 private:
  std::string name_;
  std::vector<std::string> command_;
  std::string why_absent_;
};

/// This program's own path, and that of a program on the PATH.
[[nodiscard]] std::filesystem::path own_program();
[[nodiscard]] std::optional<std::filesystem::path> on_path(const std::string& program);
/// A new empty folder in the system's temporary one; whoever asks for it removes it.
[[nodiscard]] std::filesystem::path temporary_folder();
/// Runs a program to its end; its exit status.
[[nodiscard]] int run_program(std::vector<std::string> command);

}  // namespace stoker::bench
