// The `stoker` command.
#include <algorithm>
#include <iostream>
#include <span>
#include <string>
#include <string_view>

#include "output.hpp"
#include "stoker/api/version.hpp"
#include "verbs.hpp"

namespace {

using namespace stoker::command_line;

constexpr const char* examples = R"(
Examples:
  stoker devices                              what there is, best first
  stoker doctor                               why a driver or device was taken or rejected
  stoker kernels gaussian_blur                one kernel: parameters, dtypes, formula
  stoker run edges.lua input=photo.jpg        a script, with arguments it reads from `args`
  stoker run -e 'print(relu(buffer{-1, 2}))'  a line of Lua
  stoker run edges.lua --device vulkan --trace trace.json
  stoker train examples/scripts/train_xor.lua a model and its training, described by a script
  stoker observe --socket /tmp/edges.sock     the actors of a program, while it runs

Every verb answers in JSON with --json, errors included (bench: its rows).

Exit codes:
  0  done
  1  the work failed: a kernel, a file, an error of a script
  2  the command line is wrong
  3  no such device, kernel or file, or this device cannot do it
  4  a script used up its instructions, memory or time
  130, 143  stopped by Ctrl-C, by SIGTERM

Environment:
  STOKER_DEVICE     the device to use: cpu, vulkan, vulkan:1, null
  STOKER_LOG        debug, info, warn, error, off
  STOKER_CACHE_DIR  where compiled pipelines are kept
  STOKER_OBSERVE    a path where a program can be observed

`stoker VERB --help` says more of each.)";

int report_failure(const stoker::Error& error, bool json) {
  if (json)
    print_json({{"error", to_json(error)}});
  else
    std::cerr << "stoker: " << describe(error);
  return exit_code_of(error);
}

/// The verb that was asked for and is none of ours; empty if it is one or there is none.
std::string_view unknown_verb(const CLI::App& app, std::span<char* const> arguments) {
  if (arguments.empty() || arguments[0][0] == '-') return {};
  const auto verbs = app.get_subcommands([](const CLI::App*) { return true; });
  const bool known = std::ranges::any_of(
      verbs, [&](const CLI::App* verb) { return verb->get_name() == arguments[0]; });
  return known ? std::string_view{} : arguments[0];
}

/// Help was asked for, or the command line is wrong.
int answer_usage(const CLI::App& app, const CLI::ParseError& problem,
                 std::span<char* const> arguments) {
  const auto is_json = [](std::string_view argument) { return argument == "--json"; };
  const std::string_view verb = unknown_verb(app, arguments);
  const bool wrong = problem.get_exit_code() != 0;
  const std::string reason =
      verb.empty() ? problem.what() : "there is no verb '" + std::string{verb} + "'";
  if (wrong && std::ranges::any_of(arguments, is_json)) {
    print_json({{"error", to_json(stoker::Error{"command line", stoker::ErrorCode::invalid_argument,
                                                reason})}});
    return usage;
  }
  if (!verb.empty()) {
    std::cerr << reason << "\nRun with --help for more information.\n";
    return usage;
  }
  return app.exit(problem) == 0 ? ok : usage;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Stoker runs kernels, pipelines and scripts on GPUs and CPUs.", "stoker"};
  app.footer(examples);
  app.set_version_flag("--version", "stoker " + std::string{stoker::version});
  app.require_subcommand(1);
  Choice choice;
  add_devices(app, choice);
  add_doctor(app, choice);
  add_kernels(app, choice);
  add_ops(app, choice);
  add_run(app, choice);
  add_train(app, choice);
  add_observe(app, choice);
  add_bench(app, choice);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return answer_usage(app, problem, std::span{argv, static_cast<std::size_t>(argc)}.subspan(1));
  }
  try {
    return choice.run();
  } catch (const stoker::Error& error) {
    return report_failure(error, choice.json);
  } catch (const std::exception&) {
    return report_failure(stoker::error_from_current_exception("stoker"), choice.json);
  }
}
