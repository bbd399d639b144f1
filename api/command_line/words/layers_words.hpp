// The words of `stoker layers`, apart from the layers: the stoker command lists and completes them without linking
// models.
#pragma once

#include <string>

#include "stoker/api/command_line/verbs.hpp"

namespace stoker::command_line {

struct LayersWords {
  std::string name;  ///< empty: all
  bool json = false;
  bool page = false;  ///< the reference page, in Markdown
};

/// Adds the options that fill `words`, which outlives the parser.
void add_layers_words(CLI::App& verb, LayersWords& words);

}  // namespace stoker::command_line
