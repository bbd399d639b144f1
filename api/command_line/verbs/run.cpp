// `stoker run`: runs a script and says what it did. Where the program stoker-run is there, the process becomes it:
// the same verb with models and the functions of tensors.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "stoker/api/command_line/interrupts.hpp"
#include "stoker/api/command_line/journal.hpp"
#include "stoker/api/command_line/neighbour.hpp"
#include "stoker/api/command_line/output.hpp"
#include "stoker/api/command_line/verbs.hpp"
#include "stoker/api/command_line/words/script_words.hpp"
#include "stoker/runtime/base/printable.hpp"

namespace stoker::command_line {
namespace {

struct Options {
  ScriptWords script;
  std::optional<std::string> code;
  std::string trace;
  MakeExtension extension = nullptr;
  std::span<char* const> words = {};  ///< as they were given

  [[nodiscard]] std::size_t files() const { return code ? 0 : 1; }
};

/// Throws a CLI::Error for what the parser cannot see.
void check(const Options& options) {
  if (!options.code && options.script.words.empty())
    throw CLI::RequiredError{"a script: stoker run FILE.lua, or stoker run -e 'code'"};
  options.script.check(options.files());
}

ScriptSource source_of(const Options& options) {
  return options.code ? ScriptSource{"-e", *options.code} : script_source(options.script.words[0]);
}

ScriptOptions script_options(const Options& options) {
  return options.script.options(
      options.files(), options.code ? std::nullopt : std::optional{options.script.words[0]});
}

/// The process becomes stoker-run, if that is another program and there.
void become_model_run(const Options& options) {
  if (options.extension == nullptr && has_neighbour(run_verb))
    run_neighbour(run_verb, options.words);
}

nlohmann::json report_json(Journal& journal, const DeviceInfo& device,
                           const Result<ScriptReport>& outcome, const Result<void>& traced) {
  nlohmann::json report = journal.take_json();
  report["device"] = {
      {"name", device.name}, {"description", device.description}, {"type", to_string(device.type)}};
  if (outcome)
    report["used"] = {{"instructions", outcome->instructions},
                      {"peak_memory_bytes", outcome->peak_memory_bytes},
                      {"commands", outcome->commands},
                      {"evaluations", outcome->evaluations},
                      {"pipelines_compiled", outcome->pipelines_compiled}};
  else
    report["error"] = to_json(outcome.error());
  if (outcome && traced.has_error()) report["error"] = to_json(traced.error());
  return report;
}

void print_failure(const Error& error, const Options& options, const ScriptSource& source) {
  std::cerr << "stoker: " << describe(error, source.text);
  std::cerr << permission_hint(error);
  const bool is_unknown = error.reason().find("a nil value (global '") != std::string_view::npos ||
                          error.reason().find("a buffer has no field") != std::string_view::npos;
  if (options.extension == nullptr && is_unknown)
    std::cerr
        << "  Models, and functions like zeros and stack that are made of several operations,\n"
           "  need the program stoker-run beside this one: ./dev build makes it.\n";
}

int run(const Options& options) {
  become_model_run(options);
  const ScriptSource source = source_of(options);
  ScriptOptions script = script_options(options);
  if (options.extension != nullptr) script.extension = options.extension();
  Interrupts interrupts;
  SystemOptions own;
  own.stop_patience = std::chrono::milliseconds{500};  // for work of a script that was ended
  const System system{std::move(own)};
  const Device device = system.device(options.script.device);
  // The report wants each command's time on the device.
  if (!options.script.quiet || !options.trace.empty()) system.trace().enable();
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const auto journal = std::make_shared<Journal>(
      Journal::Options{.collect_text = options.script.json,
                       .progress = terminal && !options.script.quiet && !options.script.json,
                       .trace = options.trace.empty() ? &system.trace() : nullptr});
  script.observer = journal;
  ScriptHost host = script_host(system, device);
  ScriptEnd end{interrupts, options.script};
  const ScriptRun started = host.start(source, std::move(script));
  interrupts.on_signal([stop = started.stop] { stop.cancel(cancelled_error("script")); });
  const Result<ScriptReport>& outcome = started.done.wait();
  const int code = outcome                      ? ok
                   : interrupts.received() != 0 ? interrupted + interrupts.received()
                                                : exit_code_of(outcome.error());
  end.has_come(code);
  journal->end_progress();

  Result<void> traced;
  if (!options.trace.empty()) traced = system.trace().try_write_json(options.trace);
  if (options.script.json) {
    print_json(report_json(*journal, device.info(), outcome, traced));
  } else {
    if (!options.script.quiet) journal->print_report(device.info());
    if (outcome.has_error()) print_failure(outcome.error(), options, source);
    if (traced.has_error())
      std::cerr << "stoker: " << describe(traced.error());
    else if (!options.trace.empty() && !options.script.quiet)
      std::cout << "trace in " << printable(options.trace) << '\n';
  }
  return code == ok && traced.has_error() ? exit_code_of(traced.error()) : code;
}

constexpr const char* examples = R"(
Examples:
  stoker run examples/scripts/edges.lua input=photo.jpg output=edges.png radius=3
  stoker run -e 'print(softmax(buffer{1, 2, 3}))'
  echo 'print(device().name)' | stoker run - --device cpu --quiet
  stoker run edges.lua --trace trace.json         open it with ui.perfetto.dev
  stoker run untrusted.lua --no-kernels --instructions 10000000 --memory 64 --time-limit 5

A script may read and write images, and read models, in the current directory, its own, and those of
--allow; nothing else. A file that it reads is looked for in the current directory and then beside the
script. No limit holds kernels that it defines in GLSL, nor compiling them: --no-kernels refuses them. It
ends with exit code 4 when it has used up a limit, 1 when it failed.)";

}  // namespace

void add_run(CLI::App& app, Choice& choice) { add_run(app, choice, nullptr); }

void add_run(CLI::App& app, Choice& choice, MakeExtension extension) {
  auto* verb = add_separate(app, run_verb);
  auto options = std::make_shared<Options>();
  options->extension = extension;
  options->words = choice.words;
  verb->footer(examples);
  verb->add_option("SCRIPT", options->script.words,
                   "FILE.lua or - (not with -e), then name=value for the table `args`");
  verb->add_option("-e", options->code, "Lua code to run instead of a file")->type_name("CODE");
  options->script.add_device(*verb);
  verb->add_option("--trace", options->trace, "Write what ran when to this file")
      ->type_name("FILE.json");
  options->script.add_limits(*verb);
  options->script.add_output(*verb);
  verb->callback([&choice, options] {
    check(*options);
    choice.json = options->script.json;
    choice.run = [options] { return run(*options); };
  });
}

}  // namespace stoker::command_line
