// How bodies are refused: the op of errors, and text of the client in them.
//
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/runtime/base/error.hpp"

namespace stoker::serve::protocol {

[[noreturn]] void refuse(ErrorCode code, std::string reason, std::vector<Detail> details = {});

/// The text in single quotes, printable, on one line, and cut off behind 64 bytes.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace stoker::serve::protocol
