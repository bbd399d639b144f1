// Texts in upper and lower case, letter by letter, by the machine's C.UTF-8 locale; so "ß" does not change
// in upper case.
//
// Pure functions; any thread. The program's own locale is ignored.
#pragma once

#include <string>
#include <string_view>

namespace stoker::onnx {

enum class LetterCase { lower, upper };

/// Throws Error: invalid_argument for invalid UTF-8; unsupported for letters beyond ASCII on a machine
/// without that locale.
[[nodiscard]] std::string in_case(std::string_view text, LetterCase wanted);

}  // namespace stoker::onnx
