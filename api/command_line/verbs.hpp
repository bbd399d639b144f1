// The verbs of the `stoker` command, one file each. A verb adds its subcommand to the parser and
// sets what runs when it is chosen. docs/command.md is the manual.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "stoker/api/system.hpp"

namespace stoker::command_line {

/// What the process answers. Documented in docs/command.md and in `stoker --help`.
enum ExitCode : int {
  ok = 0,
  failed = 1,         ///< the work failed: a kernel, a file, a script's error
  usage = 2,          ///< the command line is wrong
  no_such_thing = 3,  ///< a device, kernel or file that is not there, or not supported
  out_of_budget = 4,  ///< a script used up its instructions, memory or time
  interrupted = 128,  ///< and the signal's number on top: 130 after Ctrl-C
};

/// Set by the chosen verb.
struct Choice {
  std::function<int()> run;  ///< returns the exit code and may throw Error
  bool json = false;         ///< whoever reads the output wants JSON, also of an error
};

void add_devices(CLI::App& app, Choice& choice);
void add_doctor(CLI::App& app, Choice& choice);
void add_kernels(CLI::App& app, Choice& choice);
void add_ops(CLI::App& app, Choice& choice);
void add_run(CLI::App& app, Choice& choice);
void add_train(CLI::App& app, Choice& choice);
void add_observe(CLI::App& app, Choice& choice);
void add_bench(CLI::App& app, Choice& choice);
/// Hidden verbs, for packages: `man` and `completion`, made from the definitions of the others.
void add_manual(CLI::App& app, Choice& choice);

}  // namespace stoker::command_line
