// A peer that stays: a program that is asked over a pipe, one line a question, and answers each with a line.
// It sleeps between questions, so that nobody's threads run while another is measured.
//
// Threads: one at a time. Errors are thrown: std::system_error if it cannot be started, std::runtime_error if it
// has ended, or with its answer if that is no number.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include <sys/types.h>

namespace stoker::bench {

class AskedProgram {
 public:
  /// Starts it. Better before other threads start: it forks.
  AskedProgram(std::string name, std::vector<std::string> command);
  /// Ends its input, and waits for its end.
  ~AskedProgram();
  AskedProgram(const AskedProgram&) = delete;
  AskedProgram& operator=(const AskedProgram&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The number that it answers. Waits a little after that: threads of thread pools spin for some milliseconds
  /// after their last work.
  [[nodiscard]] double ask(const std::string& question);
  /// The line that it answers. Neither has its end of line.
  [[nodiscard]] std::string ask_for_text(const std::string& question);

 private:
  std::string name_;
  pid_t child_ = -1;
  std::FILE* to_child_ = nullptr;
  std::FILE* from_child_ = nullptr;
};

}  // namespace stoker::bench
