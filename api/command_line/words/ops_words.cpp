#include "ops_words.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace stoker::command_line {

void add_ops_words(CLI::App& verb, OpsWords& words) {
  verb.footer(
      "A line is an operation, the devices that it runs on, its gradient (exact, zero or none) and "
      "what\nit computes. Below are the functions of scripts that are made of several operations."
      "\n\nExamples:\n  stoker ops\n  stoker ops matmul\n  stoker ops variance\n  stoker ops "
      "--json");
  auto* name = verb.add_option("NAME", words.name, "An operation, or a function of scripts");
  verb.add_flag("--json", words.json, "Dtypes, devices, gradients and options, as JSON");
  verb.add_flag("--markdown", words.page, "All of them as a page of Markdown")->excludes(name);
}

void describe_ops(CLI::App& verb) {
  const auto words = std::make_shared<OpsWords>();
  add_ops_words(verb, *words);
  verb.callback([words] {});  // keeps the words for as long as the parser
}

}  // namespace stoker::command_line
