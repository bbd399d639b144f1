// The verbs of the `stoker` command, one file each in verbs/. A verb adds its subcommand to the parser and
// sets what runs when it is chosen. docs/command.md is the manual.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace CLI {
class App;
}
namespace stoker {
class ScriptExtension;
}

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
  /// The command line after the verb, for a verb that may become another program. Outlives the verb.
  std::span<char* const> words = {};
};

/// A verb that is a program of its own, because it links tensors and models.
struct SeparateVerb {
  std::string_view name;
  std::string_view summary;
  /// Adds its options to its subcommand: `stoker` lists them in the manual page and completes them. Null of
  /// a verb that `stoker` has itself, too.
  void (*describe)(CLI::App& verb);
};
void describe_layers(CLI::App& verb);
void describe_onnx(CLI::App& verb);
void describe_ops(CLI::App& verb);
void describe_predict(CLI::App& verb);
void describe_serve(CLI::App& verb);
void describe_train(CLI::App& verb);
inline constexpr SeparateVerb ops_verb{"ops", "List the operations on tensors, or describe one",
                                       &describe_ops};
inline constexpr SeparateVerb layers_verb{
    "layers", "List the layers, losses, optimizers and so on, or describe one", &describe_layers};
inline constexpr SeparateVerb onnx_verb{
    "onnx", "Describe, test, measure and write models in ONNX files", &describe_onnx};
inline constexpr SeparateVerb predict_verb{
    "predict", "Run a model of any kind on inputs from files", &describe_predict};
inline constexpr SeparateVerb serve_verb{"serve", "Serve models of any kind over HTTP",
                                         &describe_serve};
/// The same verb with models and the functions of tensors: what `stoker run` becomes where it is there.
inline constexpr SeparateVerb run_verb{"run", "Run a Lua script, or code given with -e", nullptr};
inline constexpr SeparateVerb train_verb{"train", "Train the model that a Lua script describes",
                                         &describe_train};
/// Its subcommand, in its own program and in the list of `stoker`.
CLI::App* add_separate(CLI::App& app, const SeparateVerb& verb);

void add_devices(CLI::App& app, Choice& choice);
void add_doctor(CLI::App& app, Choice& choice);
void add_kernels(CLI::App& app, Choice& choice);
void add_layers(CLI::App& app, Choice& choice);
void add_onnx(CLI::App& app, Choice& choice);
void add_ops(CLI::App& app, Choice& choice);
void add_run(CLI::App& app, Choice& choice);
void add_predict(CLI::App& app, Choice& choice);
void add_serve(CLI::App& app, Choice& choice);
/// What a script gets beside the language.
using MakeExtension = std::shared_ptr<ScriptExtension> (*)();
void add_run(CLI::App& app, Choice& choice, MakeExtension extension);
/// `run` with models and the functions of tensors, in the program stoker-run.
void add_model_run(CLI::App& app, Choice& choice);
void add_train(CLI::App& app, Choice& choice);
void add_observe(CLI::App& app, Choice& choice);
void add_bench(CLI::App& app, Choice& choice);
/// Hidden verbs, for packages: `man` and `completion`, made from the definitions of the others.
void add_manual(CLI::App& app, Choice& choice);

}  // namespace stoker::command_line
