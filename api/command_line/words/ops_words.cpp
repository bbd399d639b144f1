#include "ops_words.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace stoker::command_line {

void add_ops_words(CLI::App& verb, OpsWords& words) {
  verb.footer(
      "A line is an operation, the devices that it runs on, its gradient (exact, zero or none) and "
      "what\nit computes.");
  verb.add_flag("--json", words.json, "Dtypes, devices and gradients, as JSON");
  verb.add_flag("--markdown", words.page, "All operations as a page of Markdown");
}

void describe_ops(CLI::App& verb) {
  const auto words = std::make_shared<OpsWords>();
  add_ops_words(verb, *words);
  verb.callback([words] {});  // keeps the words for as long as the parser
}

}  // namespace stoker::command_line
