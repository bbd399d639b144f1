// ExCubecl's text form of a stage, "kernel:in,in:out", with parameters of ours behind a '?':
// "gaussian_blur:photo:soft?radius=3&sigma=1.5".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/kernels/params.hpp"

namespace stoker {

struct StageText {
  std::string kernel;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  Params params;
};

/// Parses one stage. White space around names is ignored. A parameter's value is a number, true or
/// false, a list of integers in brackets, or text. Errors: invalid_argument with the position.
[[nodiscard]] Result<StageText> parse_stage(std::string_view text);

/// A parameter value as people write it on a command line.
[[nodiscard]] ParamValue parse_param_value(std::string_view text);

}  // namespace stoker
