#include "stoker/kernels/glsl/tokens.hpp"

#include <algorithm>
#include <utility>

namespace stoker::glsl {
namespace {

bool is_digit(int c) { return c >= '0' && c <= '9'; }
bool is_of_a_word(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

/// Reads a text as the preprocessor does: lines that end in `\` go on, comments are spaces.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_{text} {}

  std::vector<Token> all() {
    std::vector<Token> tokens;
    bool begins_line = true, follows_space = true;
    for (int c = peek(); c != end; c = peek()) {
      if (skip_comment()) {
        follows_space = true;
      } else if (c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\n') {
        take();
        begins_line |= c == '\n';
        follows_space = true;
      } else {
        Token token{{}, line_, begins_line, follows_space};
        token.text += take();
        if (c == '"') {
          while (peek() != end && peek() != '\n' && token.text.find('"', 1) == std::string::npos)
            token.text += take();
        } else if (is_of_a_word(c)) {
          // A name may begin right after a number's digits.
          while (is_of_a_word(peek()) && (is_digit(peek()) || !is_digit(c))) token.text += take();
        }
        tokens.push_back(std::move(token));
        begins_line = follows_space = false;
      }
    }
    return tokens;
  }

 private:
  static constexpr int end = -1;

  /// The next character, a line's end as '\n'.
  int peek() {
    while (at_ < text_.size() && text_[at_] == '\\' && line_end(at_ + 1) != 0) {
      at_ += 1 + line_end(at_ + 1);
      ++line_;
    }
    if (at_ >= text_.size()) return end;
    return line_end(at_) != 0 ? '\n' : static_cast<unsigned char>(text_[at_]);
  }
  char take() {
    const int c = peek();
    at_ += c == '\n' ? line_end(at_) : 1;
    line_ += c == '\n' ? 1 : 0;
    return static_cast<char>(c);
  }
  /// How many characters the end of a line there has; 0: there is none.
  [[nodiscard]] std::size_t line_end(std::size_t at) const {
    const std::string_view rest = text_.substr(std::min(at, text_.size()));
    if (rest.starts_with("\r\n")) return 2;
    return rest.starts_with('\n') || rest.starts_with('\r') ? 1 : 0;
  }
  bool skip_comment() {
    if (peek() != '/') return false;
    const Reader before = *this;
    take();
    if (peek() == '/') {
      while (peek() != '\n' && peek() != end) take();
      return true;
    }
    if (peek() == '*') {
      take();
      for (char last = '\0'; peek() != end;)
        if (const char c = take(); std::exchange(last, c) == '*' && c == '/') break;
      return true;
    }
    *this = before;
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) { return Reader{text}.all(); }

}  // namespace stoker::glsl
