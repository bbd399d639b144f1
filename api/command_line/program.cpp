#include "program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "neighbour.hpp"
#include "output.hpp"
#include "stoker/api/version.hpp"
#include "stoker/runtime/base/nearest_name.hpp"
#include "stoker/runtime/base/printable.hpp"
#include "stoker/runtime/settings.hpp"

namespace stoker::command_line {
namespace {

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
  4  a script used up its instructions, memory, buffers or time
  130, 143  stopped by Ctrl-C, by SIGTERM

Environment:
)";

/// Below the list of verbs.
std::string footer() {
  std::ostringstream text;
  text << examples;
  for (const Setting& setting : settings())
    text << "  " << std::left << std::setw(24) << setting.name << setting.summary << '\n';
  text << "\n`stoker VERB --help` says more of each.";
  return text.str();
}

/// A descriptor that whoever started us had closed would be given to the first file that is opened, and
/// what we print would end in it. Reading from what takes its place is at the end, writing fails.
void fill_standard_descriptors() {
  while (true) {
    const int descriptor = open("/dev/null", O_RDONLY);
    if (descriptor < 0) return;
    if (descriptor <= STDERR_FILENO) continue;
    close(descriptor);
    return;
  }
}

int report_failure(const Error& error, bool json) {
  if (json)
    print_json({{"error", to_json(error)}});
  else
    std::cerr << "stoker: " << describe(error);
  return exit_code_of(error);
}

/// Why there is no such verb, or none below it; empty if it is one or none was asked for.
std::string unknown_verb(const CLI::App& app, std::span<char* const> arguments) {
  if (arguments.empty() || arguments[0][0] == '-') return {};
  const auto verbs = app.get_subcommands([](const CLI::App*) { return true; });
  if (verbs.empty()) return {};
  std::vector<std::string_view> names;
  names.reserve(verbs.size());
  for (const CLI::App* verb : verbs) names.emplace_back(verb->get_name());
  const std::string_view asked{arguments[0]};
  const auto found = std::ranges::find(names, asked);
  if (found != names.end())
    return unknown_verb(*verbs[static_cast<std::size_t>(found - names.begin())],
                        arguments.subspan(1));
  const std::string where = app.get_parent() ? "'" + app.get_name() + "' has" : "there is";
  return where + " no verb '" + std::string{asked} + "'" + did_you_mean(asked, names);
}

/// Which option the verb does not have; empty if no word of those left over looks like one.
std::string unknown_option(const CLI::App& app) {
  const CLI::App* verb = &app;
  std::string called = "stoker";
  while (!verb->get_subcommands().empty()) {
    verb = verb->get_subcommands().front();
    called += ' ' + verb->get_name();
  }
  if (verb == &app) return {};
  const std::vector<std::string> left_over = verb->remaining();
  const auto wrong = std::ranges::find_if(
      left_over, [](const std::string& word) { return word.size() > 2 && word.starts_with("--"); });
  if (wrong == left_over.end()) return {};
  std::vector<std::string> names;
  for (const CLI::Option* option : verb->get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  const std::string name = wrong->substr(0, wrong->find('='));
  const std::vector<std::string_view> known{names.begin(), names.end()};
  return called + " has no option '" + name + "'" + did_you_mean(name, known);
}

bool asks_for_json(std::span<char* const> arguments) {
  return std::ranges::any_of(arguments,
                             [](std::string_view argument) { return argument == "--json"; });
}

/// Help was asked for, or the command line is wrong.
int answer_usage(const CLI::App& app, const CLI::ParseError& problem,
                 std::span<char* const> arguments) {
  if (problem.get_exit_code() == 0) return app.exit(problem);
  std::string reason = unknown_verb(app, arguments);
  if (reason.empty()) reason = unknown_option(app);
  if (reason.empty()) reason = problem.what();
  if (asks_for_json(arguments))
    print_json({{"error", to_json(Error{"command line", ErrorCode::invalid_argument, reason})}});
  else
    std::cerr << printable(reason) << "\nRun with --help for more information.\n";
  return usage;
}

int run(std::span<char*> arguments, std::span<const Verb> verbs) {
  CLI::App app{"Stoker runs kernels, pipelines and scripts on GPUs and CPUs.", "stoker"};
  app.set_version_flag("--version", "stoker " + std::string{version});
  app.require_subcommand(1);
  const auto words = arguments.subspan(std::min<std::size_t>(1, arguments.size()));
  Choice choice;
  choice.words = words.subspan(std::min<std::size_t>(1, words.size()));
  for (const Verb& verb : verbs) {
    if (verb.add) {
      verb.add(app, choice);
      continue;
    }
    verb.separate->describe(*add_separate(app, *verb.separate));
    // Its words are its own program's to read, --help among them.
    if (words.empty() || words[0] != verb.separate->name) continue;
    choice.json = asks_for_json(words);
    choice.run = [&verb, words]() -> int { run_neighbour(*verb.separate, words.subspan(1)); };
  }
  app.footer(footer());  // last: verbs would inherit it
  try {
    if (!choice.run) app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& problem) {
    return answer_usage(app, problem, words);
  }
  try {
    return choice.run();
  } catch (const Error& error) {
    return report_failure(error, choice.json);
  } catch (const std::exception&) {
    return report_failure(error_from_current_exception("stoker"), choice.json);
  }
}

}  // namespace

CLI::App* add_separate(CLI::App& app, const SeparateVerb& verb) {
  return app.add_subcommand(std::string{verb.name}, std::string{verb.summary});
}

int run_program(std::span<char*> arguments, std::span<const Verb> verbs) {
  fill_standard_descriptors();
  return after_output(run(arguments, verbs));
}

int run_program(std::span<char*> arguments, const SeparateVerb& verb, AddVerb add) {
  std::string name{verb.name};
  std::vector<char*> words{arguments.begin(), arguments.end()};
  words.insert(words.begin() + std::min<std::ptrdiff_t>(1, std::ssize(words)), name.data());
  const Verb only{add};
  return run_program(words, {&only, 1});
}

}  // namespace stoker::command_line
