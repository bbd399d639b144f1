// Runs the stoker command as a user would.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

struct CommandResult {
  int exit_code = -1;  ///< as a shell tells it: 128 and the signal's number if a signal ended it
  std::string out;
  std::string err;
};

class CommandProcess {
 public:
  /// Starts build/bin/stoker in `directory` (empty: the current one). `input` is its standard input.
  explicit CommandProcess(const std::vector<std::string>& arguments,
                          const std::string& directory = {}, const std::string& input = {});
  ~CommandProcess();
  CommandProcess(const CommandProcess&) = delete;
  CommandProcess& operator=(const CommandProcess&) = delete;

  void signal(int number) const;
  /// Reads standard output until `text` has come. False at its end.
  bool wait_for_output(const std::string& text);
  /// Reads to the end of both streams and waits for the process.
  CommandResult finish();

 private:
  /// Reads what is there; false when both streams have ended.
  bool read_some();

  int process_ = -1;
  int out_ = -1;
  int err_ = -1;
  CommandResult result_;
};

[[nodiscard]] CommandResult stoker_command(const std::vector<std::string>& arguments,
                                           const std::string& directory = {},
                                           const std::string& input = {});

/// Its standard output as JSON. Fails the test if it is none.
[[nodiscard]] nlohmann::json parsed(const CommandResult& result);

[[nodiscard]] inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace stoker
