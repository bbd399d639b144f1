// Text of strangers that stands within a line, of the terminal or of a log.
//
// Pure function; any thread.
#pragma once

#include <string>
#include <string_view>

namespace stoker::command_line {

/// printable(), and no line end in it begins another line.
[[nodiscard]] std::string one_line(std::string_view text);

}  // namespace stoker::command_line
