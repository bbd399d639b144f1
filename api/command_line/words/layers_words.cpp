#include "layers_words.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace stoker::command_line {

void add_layers_words(CLI::App& verb, LayersWords& words) {
  verb.footer(
      "\nExamples:\n  stoker layers\n  stoker layers conv\n  stoker layers adam\n  stoker layers "
      "--json");
  auto* name = verb.add_option("NAME", words.name,
                               "A layer, activation, initializer, loss, metric, optimizer …");
  verb.add_flag("--json", words.json, "Summaries and options, as JSON");
  verb.add_flag("--markdown", words.page, "All of them as a page of Markdown")->excludes(name);
}

void describe_layers(CLI::App& verb) {
  const auto words = std::make_shared<LayersWords>();
  add_layers_words(verb, *words);
  verb.callback([words] {});  // keeps the words for as long as the parser
}

}  // namespace stoker::command_line
