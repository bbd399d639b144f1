// The outputs of `stoker predict`: as text, as JSON, as files.
//
// Threads: any; blocks until they are computed. Errors are thrown: io_error and not_found for files;
// invalid_argument where labels fit no output.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stoker/api/model.hpp"

namespace stoker::command_line {

/// What is to be shown of each output.
struct ShownOutputs {
  std::uint64_t top = 0;            ///< the largest numbers of each row; 0: the numbers as they are
  std::vector<std::string> labels;  ///< names of the places in a row; none: none
};

/// One a line. Throws not_found, io_error, limit_exceeded (more than 16 MiB), invalid_argument (there are none).
[[nodiscard]] std::vector<std::string> read_labels(const std::string& path);
/// Throws invalid_argument unless an output has rows as long as there are labels.
void check_labels(const ShownOutputs& shown, const NamedValues& outputs);

void print_output(const std::string& name, const onnx::Value& value, const ShownOutputs& shown);
[[nodiscard]] nlohmann::json output_json(const std::string& name, const onnx::Value& value,
                                         const ShownOutputs& shown);

/// Writes each output to a file in the folder, which is made; their paths, in the order of the outputs. Names are those
/// of the outputs, with '_' for what is no letter, digit, '.' or '-'.
[[nodiscard]] std::vector<std::string> write_outputs(const NamedValues& outputs,
                                                     const std::string& folder, bool as_npy);

}  // namespace stoker::command_line
