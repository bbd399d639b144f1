#include "process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "stoker/tests/checkout/checkout.hpp"

extern char** environ;

namespace stoker {
namespace {

std::string program() {
  const char* given = std::getenv("STOKER_COMMAND");
  return given != nullptr ? given : (build_folder() / "bin/stoker").string();
}

void close_once(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

}  // namespace

CommandProcess::CommandProcess(const std::vector<std::string>& arguments,
                               const CommandPlace& place) {
  const std::string& directory = place.directory;
  const std::string& input = place.input;
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  for (auto* ends : {&in, &out, &err})
    if (pipe2(ends->data(), O_CLOEXEC) != 0) throw std::runtime_error{"pipe2"};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err[1], 2);
  if (!directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  std::vector<std::string> words{program()};
  if (!place.shell.empty()) words = {"/bin/sh", "-c", place.shell, "sh", program()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  // Whoever runs the tests may ignore SIGINT, as shells do for what they start in the background.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t all;
  sigfillset(&all);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int failure =
      posix_spawn(&process_, words[0].c_str(), &actions, &attributes, pointers.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  close(err[1]);
  out_ = out[0];
  err_ = err[0];
  // Inputs of the tests fit into the pipe.
  if (failure == 0 && !input.empty() && write(in[1], input.data(), input.size()) < 0)
    throw std::runtime_error{"write"};
  close(in[1]);
  if (failure != 0) throw std::runtime_error{"cannot start " + words[0]};
}

CommandProcess::~CommandProcess() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  close_once(out_);
  close_once(err_);
}

void CommandProcess::signal(int number) const { kill(process_, number); }

void CommandProcess::wait_until_listening_for(int number) const {
  for (;;) {
    std::ifstream status{"/proc/" + std::to_string(process_) + "/status"};
    if (!status) return;  // it has ended
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with("SigBlk:")) continue;
      const auto blocked = std::stoull(line.substr(line.find('\t') + 1), nullptr, 16);
      if ((blocked >> (number - 1) & 1U) != 0) return;
    }
    std::this_thread::yield();
  }
}

void CommandProcess::wait_until_it_has_a_thread(std::string_view name) {
  const std::string threads = "/proc/" + std::to_string(process_) + "/task";
  for (std::error_code gone; !reap(WNOHANG); std::this_thread::yield())
    for (const auto& thread : std::filesystem::directory_iterator{threads, gone}) {
      std::ifstream file{thread.path() / "comm"};
      std::string line;
      if (std::getline(file, line) && line.starts_with(name)) return;
    }
}

void CommandProcess::signal_until_ended(int number) {
  while (!reap(WNOHANG)) {
    signal(number);
    std::this_thread::yield();
  }
}

CommandResult CommandProcess::finish_unread() {
  static_cast<void>(reap(0));
  return result_;
}

bool CommandProcess::reap(int flags) {
  int status = 0;
  rusage used{};
  if (process_ > 0 && wait4(process_, &status, flags, &used) != process_) return false;
  if (process_ > 0) {
    result_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result_.peak_mib = used.ru_maxrss / 1024;
  }
  process_ = -1;
  return true;
}

bool CommandProcess::read_some() {
  std::array<pollfd, 2> events{pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0}};
  if (out_ < 0 && err_ < 0) return false;
  if (poll(events.data(), events.size(), -1) < 0) return true;
  const auto take = [](const pollfd& event, int& descriptor, std::string& text) {
    if (descriptor < 0 || event.revents == 0) return;
    std::array<char, 4096> part;
    const ssize_t size = read(descriptor, part.data(), part.size());
    if (size > 0)
      text.append(part.data(), static_cast<std::size_t>(size));
    else
      close_once(descriptor);
  };
  take(events[0], out_, result_.out);
  take(events[1], err_, result_.err);
  return true;
}

bool CommandProcess::wait_for_output(const std::string& text) {
  while (result_.out.find(text) == std::string::npos)
    if (!read_some()) return false;
  return true;
}

CommandResult CommandProcess::finish() {
  while (read_some()) {
  }
  static_cast<void>(reap(0));
  return result_;
}

CommandResult stoker_command(const std::vector<std::string>& arguments,
                             const std::string& directory, const std::string& input) {
  return CommandProcess{arguments, directory, input}.finish();
}

CommandResult stoker_command_in(const CommandPlace& place,
                                const std::vector<std::string>& arguments) {
  return CommandProcess{arguments, place}.finish();
}

nlohmann::json parsed(const CommandResult& result) {
  const auto value = nlohmann::json::parse(result.out, nullptr, false);
  EXPECT_FALSE(value.is_discarded()) << result.out << result.err;
  return value.is_discarded() ? nlohmann::json::object() : value;
}

}  // namespace stoker
