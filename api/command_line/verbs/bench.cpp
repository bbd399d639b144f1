// `stoker bench`: runs the benchmark program that stands beside this one.
#include <CLI/CLI.hpp>

#include "stoker/api/command_line/neighbour.hpp"
#include "stoker/api/command_line/verbs.hpp"

namespace stoker::command_line {
namespace {

struct Words {
  std::vector<std::string> groups;
  bool list = false;
  bool json = false;
  bool markdown = false;
  bool quick = false;
  std::string device;
};

/// The words of stoker_bench that say the same.
std::vector<std::string> arguments_of(const Words& words) {
  std::vector<std::string> arguments = words.groups;
  if (words.list) arguments.emplace_back("--list");
  if (words.json) arguments.emplace_back("--json");
  if (words.markdown) arguments.emplace_back("--markdown");
  if (words.quick) arguments.emplace_back("--quick");
  if (!words.device.empty()) arguments.insert(arguments.end(), {"--device", words.device});
  return arguments;
}

}  // namespace

void add_bench(CLI::App& app, Choice& choice) {
  auto* verb = app.add_subcommand("bench", "Run benchmarks");
  auto words = std::make_shared<Words>();
  verb->add_option("GROUP", words->groups,
                   "Groups to run, each named by its beginning: cpu is all that begin with cpu_; "
                   "all if none is named");
  verb->add_flag("--list", words->list, "Print the groups");
  verb->add_flag("--json", words->json,
                 "Print the rows as JSON on standard output, and the table on standard error");
  verb->add_flag("--markdown", words->markdown, "Print tables for bench/README.md");
  verb->add_flag("--quick", words->quick, "A tenth of the repeats: does everything run?");
  verb->add_option("--device", words->device, "The GPU to measure, such as vulkan:0");
  verb->footer(
      R"(All groups take minutes. They are measured by stoker_bench, which stands beside this command once
`./dev bench` has built it.)");
  verb->callback([&choice, words] {
    choice.run = [words]() -> int {
      become("bench", "stoker_bench", arguments_of(*words), "./dev bench builds and runs it");
    };
  });
}

}  // namespace stoker::command_line
