#include "stoker/api/serve/repository/protobuf_text.hpp"

#include <algorithm>
#include <string>

#include "stoker/runtime/base/error.hpp"

namespace stoker::serve {
namespace {

constexpr int deepest_message = 32;

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// -1: it is none of this base.
int digit_of(char c, int base) noexcept {
  int digit = -1;
  if (is_digit(c)) digit = c - '0';
  if (c >= 'a' && c <= 'f') digit = c - 'a' + 10;
  if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
  return digit < base ? digit : -1;
}

void append_utf8(std::string& text, unsigned code) {
  const auto tail = [&](unsigned shift) {
    text += static_cast<char>(0x80U | ((code >> shift) & 0x3FU));
  };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0U | (code >> 6U));
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0U | (code >> 12U));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0U | (code >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

class Reader {
 public:
  explicit Reader(std::string_view text) noexcept : text_{text} {}

  ConfigValue document() {
    ConfigValue message;
    skip();
    while (!at_end()) field(message);
    return message;
  }

 private:
  [[nodiscard]] bool at_end() const noexcept { return at_ == text_.size(); }
  /// 0 at the end, and for a zero in the text, which nothing allows.
  [[nodiscard]] char next() const noexcept { return at_end() ? '\0' : text_[at_]; }

  [[noreturn]] void refuse(const std::string& expected) const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = std::ranges::count(before, '\n') + 1;
    const std::size_t start = before.rfind('\n');
    const std::size_t column = at_ - (start == std::string_view::npos ? 0 : start + 1) + 1;
    throw Error{"config", ErrorCode::invalid_argument,
                "line " + std::to_string(line) + ", column " + std::to_string(column) +
                    ": expected " + expected};
  }

  void skip() noexcept {
    while (!at_end()) {
      if (next() == '#')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (std::string_view{" \t\r\n\v\f"}.find(next()) != std::string_view::npos)
        ++at_;
      else
        return;
    }
  }
  bool take(char c) noexcept {
    if (next() != c || at_end()) return false;
    ++at_;
    skip();
    return true;
  }

  std::string name() {
    if (!is_letter(next())) refuse("the name of a field");
    return word();
  }
  std::string word() {
    const std::size_t start = at_;
    while (is_letter(next()) || is_digit(next())) ++at_;
    std::string taken{text_.substr(start, at_ - start)};
    skip();
    return taken;
  }

  void field(ConfigValue& message) {
    const std::string field = name();
    const bool has_colon = take(':');
    if (take('[')) {
      if (!take(']')) {
        do {
          message.fields.push_back({field, value(has_colon)});
        } while (take(','));
        if (!take(']')) refuse("',' or ']'");
      }
    } else {
      message.fields.push_back({field, value(has_colon)});
    }
    if (!take(',')) take(';');
  }

  /// Only messages may do without a colon.
  ConfigValue value(bool has_colon) {
    if (take('{')) return message('}');
    if (take('<')) return message('>');
    if (!has_colon) refuse("':' or '{'");
    if (next() == '"' || next() == '\'') return {ConfigValue::Kind::text, string(), {}};
    ConfigValue scalar{ConfigValue::Kind::word, {}, {}};
    if (take('-')) scalar.text = "-";
    if (is_letter(next()))
      scalar.text += word();
    else if (is_digit(next()) || next() == '.')
      scalar.text += number();
    else
      refuse("a value");
    return scalar;
  }

  std::string number() {
    const std::size_t start = at_;
    while (is_letter(next()) || is_digit(next()) || next() == '.' ||
           (at_ > start && (next() == '+' || next() == '-') &&
            (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E')))
      ++at_;
    std::string taken{text_.substr(start, at_ - start)};
    skip();
    return taken;
  }

  ConfigValue message(char end) {
    if (++depth_ > deepest_message) refuse("fewer messages within messages");
    ConfigValue made;
    while (!take(end)) field(made);
    --depth_;
    return made;
  }

  /// One or more literals; they continue each other.
  std::string string() {
    std::string made;
    while (next() == '"' || next() == '\'') {
      const char quote = text_[at_++];
      while (next() != quote) {
        if (at_end() || next() == '\n') refuse("the end of the string");
        if (next() == '\\')
          escape(made);
        else
          made += text_[at_++];
      }
      ++at_;
      skip();
    }
    return made;
  }

  void escape(std::string& made) {
    ++at_;
    const char kind = next();
    if (digit_of(kind, 8) >= 0) {
      made += static_cast<char>(digits(8, 1, 3));
      return;
    }
    static constexpr std::string_view names = "abfnrtv\\'\"?";
    static constexpr std::string_view values = "\a\b\f\n\r\t\v\\'\"?";
    const std::size_t simple = names.find(kind);
    if (!at_end() && simple != std::string_view::npos) {
      ++at_;
      made += values[simple];
      return;
    }
    if (kind != 'x' && kind != 'X' && kind != 'u' && kind != 'U') refuse("another escape");
    ++at_;
    if (kind == 'x' || kind == 'X') {
      made += static_cast<char>(digits(16, 1, 2));
      return;
    }
    const unsigned code = kind == 'u' ? digits(16, 4, 4) : digits(16, 8, 8);
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) refuse("a character of Unicode");
    append_utf8(made, code);
  }

  unsigned digits(int base, int least, int most) {
    unsigned number = 0;
    int count = 0;
    while (count < most && digit_of(next(), base) >= 0) {
      number = number * static_cast<unsigned>(base) +
               static_cast<unsigned>(digit_of(text_[at_++], base));
      ++count;
    }
    if (count < least) refuse("a digit");
    return number;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

ConfigValue read_protobuf_text(std::string_view text) { return Reader{text}.document(); }

}  // namespace stoker::serve
