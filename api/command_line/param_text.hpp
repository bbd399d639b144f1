// The parameters of kernels and the options of layers, as verbs show them: for people, as a row of a page, as JSON.
//
// Pure functions; any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "stoker/kernels/params.hpp"

namespace stoker::command_line {

/// Two lines: name, type, default and range; then what it means.
[[nodiscard]] std::string param_lines(const ParamSpec& param);
/// A table in Markdown, after an empty line; "" for none. `heading`: "parameter", "option".
[[nodiscard]] std::string param_table(std::string_view heading, std::span<const ParamSpec> params);
[[nodiscard]] nlohmann::json to_json(const ParamSpec& param);

}  // namespace stoker::command_line
