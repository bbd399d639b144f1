// The inputs of `stoker predict`, from the words of the command line.
//
// Threads: any; blocks on files. Errors are thrown: not_found for a name that no input has (with the nearest) and for
// files; io_error, unsupported and invalid_argument for what is in them.
#pragma once

#include <map>

#include "stoker/api/command_line/words/predict_words.hpp"
#include "stoker/api/model.hpp"

namespace stoker::command_line {

/// What stands in the words, before a model is loaded.
struct PredictInputs {
  std::map<std::string, std::string> values;
  std::map<std::string, ImageOptions> pictures;
};
/// Throws a CLI::ValidationError for a value of no kind, a name that is given twice, a picture's words without a
/// picture.
[[nodiscard]] PredictInputs parse_inputs(const PredictWords& words);

[[nodiscard]] NamedValues read_inputs(const PredictInputs& inputs, const AnyModel& model);

}  // namespace stoker::command_line
