// The words of `stoker onnx`, apart from models: the stoker command lists and completes them without linking them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "verbs.hpp"

namespace stoker::command_line {

struct OnnxTestWords {
  std::vector<std::string> folders;
  std::string device;
  bool json = false;
  bool table = false;
  bool quiet = false;
  std::optional<double> atol;
  std::optional<double> rtol;
};

/// Adds the subcommands that fill `words`, which outlives the parser. The parser of `test`.
CLI::App* add_onnx_words(CLI::App& verb, OnnxTestWords& words);

}  // namespace stoker::command_line
