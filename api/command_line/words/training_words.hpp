// The words of `stoker train`, apart from the training itself: the stoker command lists and completes them
// without linking models.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "script_words.hpp"

namespace stoker::command_line {

struct TrainingWords {
  ScriptWords script;
  std::optional<std::int64_t> epochs;  ///< the epoch to end with; none: the script's
  std::string save;                    ///< where to write the model; empty: the script's
  std::string resume;                  ///< the model to go on from; empty: a new one
};

/// Adds the options that fill `words`, which outlives the parser.
void add_training_words(CLI::App& verb, TrainingWords& words);

}  // namespace stoker::command_line
