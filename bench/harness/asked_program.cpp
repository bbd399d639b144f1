#include "stoker/bench/harness/asked_program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace stoker::bench {

AskedProgram::AskedProgram(std::string name, std::vector<std::string> command)
    : name_{std::move(name)} {
  std::array<int, 2> down{};
  std::array<int, 2> up{};
  if (pipe2(down.data(), O_CLOEXEC) != 0 || pipe2(up.data(), O_CLOEXEC) != 0)
    throw std::system_error{errno, std::generic_category(), "pipe"};
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  child_ = fork();
  if (child_ < 0) throw std::system_error{errno, std::generic_category(), "fork"};
  if (child_ == 0) {
    dup2(down[0], STDIN_FILENO);
    dup2(up[1], STDOUT_FILENO);
    execv(words.front(), words.data());
    _exit(127);
  }
  close(down[0]);
  close(up[1]);
  to_child_ = fdopen(down[1], "w");
  from_child_ = fdopen(up[0], "r");
}

AskedProgram::~AskedProgram() {
  if (to_child_) std::fclose(to_child_);
  if (from_child_) std::fclose(from_child_);
  if (child_ > 0) waitpid(child_, nullptr, 0);
}

std::string AskedProgram::ask_for_text(const std::string& question) {
  std::array<char, 1024> answer{};
  if (std::fputs((question + '\n').c_str(), to_child_) < 0 || std::fflush(to_child_) != 0 ||
      std::fgets(answer.data(), answer.size(), from_child_) == nullptr)
    throw std::runtime_error{name_ + " has ended"};
  std::string text{answer.data()};
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

double AskedProgram::ask(const std::string& question) {
  const std::string answer = ask_for_text(question);
  char* end = nullptr;
  const double number = std::strtod(answer.c_str(), &end);
  if (end == answer.c_str()) throw std::runtime_error{name_ + ": " + answer};
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  return number;
}

}  // namespace stoker::bench
