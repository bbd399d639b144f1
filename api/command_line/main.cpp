// The `stoker` command.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "output.hpp"
#include "stoker/api/version.hpp"
#include "stoker/runtime/nearest_name.hpp"
#include "stoker/runtime/printable.hpp"
#include "stoker/runtime/settings.hpp"
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
)";

/// Below the list of verbs.
std::string footer() {
  std::ostringstream text;
  text << examples;
  for (const stoker::Setting& setting : stoker::settings())
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

int report_failure(const stoker::Error& error, bool json) {
  if (json)
    print_json({{"error", to_json(error)}});
  else
    std::cerr << "stoker: " << describe(error);
  return exit_code_of(error);
}

/// Why there is no such verb; empty if it is one or none was asked for.
std::string unknown_verb(const CLI::App& app, std::span<char* const> arguments) {
  if (arguments.empty() || arguments[0][0] == '-') return {};
  std::vector<std::string_view> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    names.emplace_back(verb->get_name());
  const std::string_view asked{arguments[0]};
  if (std::ranges::find(names, asked) != names.end()) return {};
  const auto nearest = stoker::nearest_name(asked, names);
  return "there is no verb '" + std::string{asked} + "'" +
         (nearest ? "; did you mean '" + std::string{*nearest} + "'?" : std::string{});
}

/// Which option the verb does not have; empty if no word of those left over looks like one.
std::string unknown_option(const CLI::App& app) {
  const std::vector<CLI::App*> verbs = app.get_subcommands();
  if (verbs.empty()) return {};
  const std::vector<std::string> left_over = verbs.front()->remaining();
  const auto wrong = std::ranges::find_if(
      left_over, [](const std::string& word) { return word.size() > 2 && word.starts_with("--"); });
  if (wrong == left_over.end()) return {};
  std::vector<std::string> names;
  for (const CLI::Option* option : verbs.front()->get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  const std::string name = wrong->substr(0, wrong->find('='));
  const std::vector<std::string_view> known{names.begin(), names.end()};
  const auto nearest = stoker::nearest_name(name, known);
  return "stoker " + verbs.front()->get_name() + " has no option '" + name + "'" +
         (nearest ? "; did you mean '" + std::string{*nearest} + "'?" : std::string{});
}

/// Help was asked for, or the command line is wrong.
int answer_usage(const CLI::App& app, const CLI::ParseError& problem,
                 std::span<char* const> arguments) {
  if (problem.get_exit_code() == 0) return app.exit(problem);
  const auto is_json = [](std::string_view argument) { return argument == "--json"; };
  std::string reason = unknown_verb(app, arguments);
  if (reason.empty()) reason = unknown_option(app);
  if (reason.empty()) reason = problem.what();
  if (std::ranges::any_of(arguments, is_json))
    print_json({{"error", to_json(stoker::Error{"command line", stoker::ErrorCode::invalid_argument,
                                                reason})}});
  else
    std::cerr << stoker::printable(reason) << "\nRun with --help for more information.\n";
  return usage;
}

int run(std::span<char*> arguments) {
  CLI::App app{"Stoker runs kernels, pipelines and scripts on GPUs and CPUs.", "stoker"};
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
  add_manual(app, choice);
  app.footer(footer());  // last: verbs would inherit it
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& problem) {
    return answer_usage(app, problem,
                        arguments.subspan(std::min<std::size_t>(1, arguments.size())));
  }
  try {
    return choice.run();
  } catch (const stoker::Error& error) {
    return report_failure(error, choice.json);
  } catch (const std::exception&) {
    return report_failure(stoker::error_from_current_exception("stoker"), choice.json);
  }
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_descriptors();
  return after_output(run({argv, static_cast<std::size_t>(argc)}));
}
