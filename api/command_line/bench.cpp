// `stoker bench`: runs the benchmark program that stands beside this one.
#include <unistd.h>

#include <filesystem>

#include "verbs.hpp"

namespace stoker::command_line {
namespace {

int replace_by_benchmarks(std::vector<std::string> words) {
  std::error_code problem;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", problem);
  const auto program = self.parent_path() / "stoker_bench";
  if (problem || !std::filesystem::exists(program))
    throw Error{"bench",
                ErrorCode::not_found,
                "there is no stoker_bench beside this program; ./dev bench builds and runs it",
                {{"expected", program.string()}}};
  words.insert(words.begin(), program.string());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  throw Error{"bench",
              ErrorCode::io_error,
              "the benchmark program cannot be started",
              {{"program", program.string()}}};
}

}  // namespace

void add_bench(CLI::App& app, Choice& choice) {
  auto* verb = app.add_subcommand(
      "bench", "Run benchmarks: [GROUP…] [--json] [--quick] [--device D] [--list]");
  verb->footer(
      R"(Groups are named by their beginning: `cpu` is all that begin with cpu_. None: all of them, which
takes minutes.

  --list       the groups
  --json       rows as JSON on standard output, the table on standard error
  --markdown   tables for bench/README.md
  --quick      a tenth of the repeats: does everything run?
  --device D   the GPU to measure, such as vulkan:0

These go to stoker_bench beside this command, which `./dev bench` builds.)");
  verb->prefix_command();
  verb->callback([&choice, verb] {
    choice.run = [verb] { return replace_by_benchmarks(verb->remaining()); };
  });
}

}  // namespace stoker::command_line
