#include "neighbour.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "stoker/runtime/base/error.hpp"

namespace stoker::command_line {

void become(const std::string& op, const std::string& program,
            std::span<const std::string> arguments, const std::string& remedy) {
  std::error_code problem;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", problem);
  const std::filesystem::path folder = self.parent_path();
  const std::array places{folder / program, folder / STOKER_LIBEXEC_FROM_BIN / program};
  for (const std::filesystem::path& place : places) {
    if (problem || access(place.c_str(), F_OK) != 0) continue;
    std::vector<std::string> words{place.string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(place.c_str(), pointers.data());
    throw Error{op,
                ErrorCode::io_error,
                program + " cannot be started: " + std::generic_category().message(errno),
                {{"program", place.string()}}};
  }
  throw Error{op,
              ErrorCode::not_found,
              "there is no " + program + " beside this program; " + remedy,
              {{"expected", places[0].string()}}};
}

void run_neighbour(const SeparateVerb& verb, std::span<char* const> arguments) {
  const std::vector<std::string> words{arguments.begin(), arguments.end()};
  become(std::string{verb.name}, "stoker-" + std::string{verb.name}, words,
         "./dev build makes it, and it is installed with the command");
}

}  // namespace stoker::command_line
