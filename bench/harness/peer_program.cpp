#include "stoker/bench/harness/peer_program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace stoker::bench {
namespace {

namespace fs = std::filesystem;

constexpr unsigned patience_seconds = 120;

/// A started program and its standard output.
class Child {
 public:
  explicit Child(std::vector<std::string> command) {
    std::array<int, 2> up{};
    if (pipe2(up.data(), O_CLOEXEC) != 0)
      throw std::system_error{errno, std::generic_category(), "pipe"};
    std::vector<char*> words;
    for (std::string& word : command) words.push_back(word.data());
    words.push_back(nullptr);
    id_ = fork();
    if (id_ == 0) {
      dup2(up[1], STDOUT_FILENO);
      alarm(patience_seconds);  // outlasts exec, and ends a peer that hangs
      execv(words.front(), words.data());
      _exit(127);
    }
    const int error = errno;
    close(up[1]);
    output_.reset(fdopen(up[0], "r"));
    if (id_ < 0) throw std::system_error{error, std::generic_category(), "fork"};
  }
  ~Child() {
    if (id_ > 0) static_cast<void>(status());
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] std::FILE* output() const noexcept { return output_.get(); }
  /// Waits for its end; 0 if all was well.
  [[nodiscard]] int status() {
    int status = 0;
    waitpid(id_, &status, 0);
    id_ = -1;
    return status;
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  pid_t id_ = -1;
  std::unique_ptr<std::FILE, Close> output_;
};

}  // namespace

fs::path own_program() { return fs::read_symlink("/proc/self/exe"); }

std::optional<fs::path> on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders{path ? path : ""};
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const fs::path found = fs::path{folder} / program; access(found.c_str(), X_OK) == 0)
      return found;
  return std::nullopt;
}

fs::path temporary_folder() {
  std::string name = fs::temp_directory_path() / "stoker_bench_XXXXXX";
  if (!mkdtemp(name.data())) throw std::system_error{errno, std::generic_category(), "mkdtemp"};
  return name;
}

int run_program(std::vector<std::string> command) { return Child{std::move(command)}.status(); }

PeerProgram PeerProgram::absent(std::string name, std::string why) {
  PeerProgram program{std::move(name), {}};
  program.why_absent_ = std::move(why);
  return program;
}

Samples PeerProgram::run(std::string_view row, int samples) const {
  auto command = command_;
  command.emplace_back(row);
  command.push_back(std::to_string(samples));
  Child child{std::move(command)};
  Samples result;
  for (double sample = 0; std::fscanf(child.output(), "%lf", &sample) == 1;) result.add(sample);
  if (child.status() != 0 || result.size() == 0)
    throw std::runtime_error{name_ + " failed at '" + std::string{row} + "'"};
  return result;
}

}  // namespace stoker::bench
