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
  long peak_mib = 0;  ///< of memory that the process held
};

/// Where and how a command is started.
struct CommandPlace {
  std::string directory;  ///< empty: the current one
  std::string input;      ///< its standard input
  /// How a shell starts it, "$@" being the command: `exec "$@" >/dev/full`. Empty: no shell does.
  std::string shell;
};

class CommandProcess {
 public:
  /// Starts build/bin/stoker.
  explicit CommandProcess(const std::vector<std::string>& arguments, const CommandPlace& place);
  explicit CommandProcess(const std::vector<std::string>& arguments,
                          const std::string& directory = {}, const std::string& input = {})
      : CommandProcess{arguments, CommandPlace{directory, input, {}}} {}
  ~CommandProcess();
  CommandProcess(const CommandProcess&) = delete;
  CommandProcess& operator=(const CommandProcess&) = delete;

  void signal(int number) const;
  /// Waits until the process has blocked a signal, to hear of it in another way.
  void wait_until_listening_for(int number) const;
  /// Waits until the process has a thread whose name begins so, or has ended.
  void wait_until_it_has_a_thread(std::string_view name);
  /// Sends the signal again and again until the process has ended: equal ones that wait are one.
  void signal_until_ended(int number);
  /// Waits for the process and reads nothing of what it writes.
  CommandResult finish_unread();
  /// Reads standard output until `text` has come. False at its end.
  bool wait_for_output(const std::string& text);
  /// What was read of its standard output.
  [[nodiscard]] const std::string& output() const noexcept { return result_.out; }
  /// Reads to the end of both streams and waits for the process.
  CommandResult finish();

 private:
  /// Reads what is there; false when both streams have ended.
  bool read_some();
  /// Whether the process has ended.
  bool reap(int flags);

  int process_ = -1;
  int out_ = -1;
  int err_ = -1;
  CommandResult result_;
};

[[nodiscard]] CommandResult stoker_command(const std::vector<std::string>& arguments,
                                           const std::string& directory = {},
                                           const std::string& input = {});
[[nodiscard]] CommandResult stoker_command_in(const CommandPlace& place,
                                              const std::vector<std::string>& arguments);

/// Its standard output as JSON. Fails the test if it is none.
[[nodiscard]] nlohmann::json parsed(const CommandResult& result);

[[nodiscard]] inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace stoker
