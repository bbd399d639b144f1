// Texts in upper and lower case, letter by letter, as the C.UTF-8 locale of the machine has it: "ß" stays in
// upper case.
//
// Pure functions; any thread. The program's own locale plays no part.
#pragma once

#include <string>
#include <string_view>

namespace stoker::onnx {

enum class LetterCase { lower, upper };

/// Throws Error: invalid_argument for bytes that are no UTF-8; unsupported for letters beyond ASCII on a
/// machine without that locale.
[[nodiscard]] std::string in_case(std::string_view text, LetterCase wanted);

}  // namespace stoker::onnx
