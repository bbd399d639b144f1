// The words and signs of a GLSL text, as its preprocessor sees them before it acts on any.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::glsl {

struct Token {
  std::string text;  ///< a word, the digits of a number, a text in quotes, or any other character
  std::size_t line = 1;  ///< where it begins, from 1
  bool begins_line = false;
  bool follows_space = false;  ///< or begins a line
};

/// Lines that end in `\` go on in the next one, and comments are spaces.
[[nodiscard]] std::vector<Token> tokens_of(std::string_view text);

}  // namespace stoker::glsl
