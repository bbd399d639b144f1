// Programs that are installed with the `stoker` command and do a part of its work.
#pragma once

#include <span>
#include <string>

#include "verbs.hpp"

namespace stoker::command_line {

/// The process becomes `program`, which stands in the folder of this one or, where it is installed, in the
/// libexec folder of its prefix. Returns only by throwing: not_found, with `remedy` in the reason;
/// io_error.
[[noreturn]] void become(const std::string& op, const std::string& program,
                         std::span<const std::string> arguments, const std::string& remedy);

/// Whether become() would find the program of a verb.
[[nodiscard]] bool has_neighbour(const SeparateVerb& verb);
/// become() for the program of a verb.
[[noreturn]] void run_neighbour(const SeparateVerb& verb, std::span<char* const> arguments);

}  // namespace stoker::command_line
