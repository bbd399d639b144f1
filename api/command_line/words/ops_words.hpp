// The words of `stoker ops`, apart from the operations: the stoker command lists and completes them without
// linking tensors.
#pragma once

#include <string>

#include "stoker/api/command_line/verbs.hpp"

namespace stoker::command_line {

struct OpsWords {
  std::string name;  ///< empty: all
  bool json = false;
  bool page = false;  ///< the reference page, in Markdown
};

/// Adds the options that fill `words`, which outlives the parser.
void add_ops_words(CLI::App& verb, OpsWords& words);

}  // namespace stoker::command_line
