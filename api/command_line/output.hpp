// How the verbs write: errors, sizes, and the JSON of what several of them show. What comes from
// scripts, files and other programs is printable() in all that is meant for people.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "stoker/api/system.hpp"

namespace stoker::command_line {

/// The exit code that tells what kind of failure it was.
[[nodiscard]] int exit_code_of(const Error& error);

[[nodiscard]] nlohmann::json to_json(const Error& error);
[[nodiscard]] nlohmann::json to_json(const DeviceInfo& info);
/// Written piece by piece: the text of a large value is never in memory as a whole.
void print_json(const nlohmann::json& value);

/// The failure in lines for a person: where, what, the line of the script if `source` has it, and
/// each detail.
[[nodiscard]] std::string describe(const Error& error, std::string_view source = {});

/// "1 node", "2 nodes".
[[nodiscard]] std::string count_of(std::size_t count, const std::string& what);

/// To be called at the end: what the process answers if it would answer `code`. It is `failed`, and said
/// on standard error, if something that was written to standard output did not get there.
[[nodiscard]] int after_output(int code);

}  // namespace stoker::command_line
