#include "neighbour.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "stoker/runtime/base/error.hpp"

namespace stoker::command_line {
namespace {

/// Where a program may stand, the first place first; none if nobody knows where this one does.
std::vector<std::filesystem::path> places_of(const std::string& program) {
  std::error_code problem;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (problem) return {};
  const std::filesystem::path folder = self.parent_path();
  return {folder / program, folder / STOKER_LIBEXEC_FROM_BIN / program};
}

bool is_there(const std::filesystem::path& place) { return access(place.c_str(), F_OK) == 0; }

std::string program_of(const SeparateVerb& verb) { return "stoker-" + std::string{verb.name}; }

}  // namespace

void become(const std::string& op, const std::string& program,
            std::span<const std::string> arguments, const std::string& remedy) {
  const std::vector<std::filesystem::path> places = places_of(program);
  for (const std::filesystem::path& place : places) {
    if (!is_there(place)) continue;
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
              {{"expected", places.empty() ? program : places[0].string()}}};
}

bool has_neighbour(const SeparateVerb& verb) {
  return std::ranges::any_of(places_of(program_of(verb)), is_there);
}

void run_neighbour(const SeparateVerb& verb, std::span<char* const> arguments) {
  const std::vector<std::string> words{arguments.begin(), arguments.end()};
  become(std::string{verb.name}, program_of(verb), words,
         "./dev build makes it, and it is installed with the command");
}

}  // namespace stoker::command_line
