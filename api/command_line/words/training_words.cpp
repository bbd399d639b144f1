#include "training_words.hpp"

#include <CLI/CLI.hpp>
#include <limits>
#include <memory>

#include "stoker/api/command_line/numbers.hpp"
#include "stoker/api/command_line/verbs.hpp"

namespace stoker::command_line {
namespace {

constexpr const char* examples = R"(
Examples:
  stoker train examples/scripts/train_xor.lua
  stoker train examples/scripts/train_digits.lua --epochs 10 --save digits.safetensors
  stoker train examples/scripts/train_digits.lua --resume digits.safetensors --epochs 20

The script ends with: return nn.model(…), {data = …}; docs/training.md describes it. Ctrl-C ends the
training: the model of the last whole epoch is saved, and --resume goes on from there.)";

}  // namespace

void add_training_words(CLI::App& verb, TrainingWords& words) {
  verb.footer(examples);
  verb.add_option("SCRIPT", words.script.words,
                  "FILE.lua or -, then name=value for the table `args`");
  words.script.add_device(verb);
  add_whole(
      verb, "--epochs", {1, std::numeric_limits<std::int64_t>::max() - 1},
      [&words](std::uint64_t last) { words.epochs = static_cast<std::int64_t>(last); },
      "The epoch to end with, instead of the script's; counted from the very first");
  verb.add_option("--save", words.save, "Where to write the model, instead of the script's")
      ->type_name("FILE");
  verb.add_option("--resume", words.resume, "Go on from this model")->type_name("FILE");
  words.script.add_limits(verb);
  words.script.add_output(verb);
}

void describe_train(CLI::App& verb) {
  const auto words = std::make_shared<TrainingWords>();
  add_training_words(verb, *words);
  verb.callback([words] {});  // keeps the words for as long as the parser
}

}  // namespace stoker::command_line
