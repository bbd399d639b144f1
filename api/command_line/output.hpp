// How the verbs write: errors, sizes, and the JSON of what several of them show.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "stoker/api/system.hpp"

namespace stoker::command_line {

/// The exit code that tells what kind of failure it was.
[[nodiscard]] int exit_code_of(const Error& error);

[[nodiscard]] nlohmann::json to_json(const Error& error);
[[nodiscard]] nlohmann::json to_json(const DeviceInfo& info);
void print_json(const nlohmann::json& value);

/// The failure in lines for a person: where, what, the line of the script if `source` has it, and
/// each detail.
[[nodiscard]] std::string describe(const Error& error, std::string_view source = {});

}  // namespace stoker::command_line
