// `stoker bench`: runs the benchmark program that stands beside this one.
#include <CLI/CLI.hpp>

#include "stoker/api/command_line/neighbour.hpp"
#include "stoker/api/command_line/verbs.hpp"

namespace stoker::command_line {

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
    choice.run = [verb]() -> int {
      become("bench", "stoker_bench", verb->remaining(), "./dev bench builds and runs it");
    };
  });
}

}  // namespace stoker::command_line
