#include "stoker/api/nn/graph/named.hpp"

#include <cctype>
#include <charconv>
#include <optional>

namespace stoker::nn {
namespace {

/// Reads the text form from left to right.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_{text} {}

  Named named() {
    Named made;
    made.name = word("a name");
    if (take('(')) {
      while (!take(')')) {
        const std::string key = word("an option");
        if (!take('=')) refuse("= after " + key);
        if (made.options.find(key) != nullptr) refuse_twice(key);
        made.options.set(key, value());
        if (!take(',') && peek() != ')') refuse("a comma or )");
      }
    }
    skip_spaces();
    if (at_ != text_.size()) refuse("the end");
    return made;
  }

 private:
  [[noreturn]] void refuse(const std::string& expected) const {
    throw Error{"named",
                ErrorCode::invalid_argument,
                "expected " + expected + " at character " + std::to_string(at_ + 1) + " of '" +
                    std::string{text_} + "'",
                {{"text", std::string{text_}}}};
  }
  [[noreturn]] void refuse_twice(const std::string& key) const {
    throw Error{"named",
                ErrorCode::invalid_parameter,
                key + " is given twice in '" + std::string{text_} + "'",
                {{"parameter", key}, {"text", std::string{text_}}}};
  }
  void skip_spaces() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  char peek() {
    skip_spaces();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  static bool in_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
  }
  std::string word(const char* what) {
    const char first = peek();
    if (!std::isalpha(static_cast<unsigned char>(first)) && first != '_') refuse(what);
    const std::size_t from = at_;
    while (at_ < text_.size() && in_word(text_[at_])) ++at_;
    return std::string{text_.substr(from, at_ - from)};
  }
  std::string quoted() {
    std::string made;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      made += text_[at_++];
    }
    if (!take('"')) refuse("a closing quote");
    return made;
  }
  template <class T> std::optional<T> number(std::string_view token) {
    T made{};
    const char* const end = token.data() + token.size();
    const auto [stop, failure] = std::from_chars(token.data(), end, made);
    if (failure != std::errc{} || stop != end) return {};
    return made;
  }
  std::string_view token() {
    skip_spaces();
    const std::size_t from = at_;
    while (at_ < text_.size() && (in_word(text_[at_]) || text_[at_] == '-' || text_[at_] == '+'))
      ++at_;
    return text_.substr(from, at_ - from);
  }
  ParamValue value() {
    if (take('"')) return quoted();
    if (take('[')) {
      std::vector<std::int64_t> list;
      while (!take(']')) {
        const auto one = number<std::int64_t>(token());
        if (!one) refuse("an integer");
        list.push_back(*one);
        if (!take(',') && peek() != ']') refuse("a comma or ]");
      }
      return list;
    }
    const std::string_view token = this->token();
    if (token.empty()) refuse("a value");
    if (token == "true") return true;
    if (token == "false") return false;
    if (const auto integer = number<std::int64_t>(token)) return *integer;
    if (const auto real = number<double>(token)) return *real;
    if (!std::isalpha(static_cast<unsigned char>(token[0])) && token[0] != '_')
      refuse("a value instead of '" + std::string{token} + "'");
    return std::string{token};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string text_of_real(double real) {
  char digits[32];
  const auto written = std::to_chars(digits, digits + sizeof digits, real);
  std::string text{digits, written.ptr};
  // A whole real must not come back as an integer.
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

std::string text_of(const ParamValue& value) {
  if (const auto* real = std::get_if<double>(&value)) return text_of_real(*real);
  if (const auto* text = std::get_if<std::string>(&value)) {
    std::string quoted = "\"";
    for (const char c : *text) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    return quoted + '"';
  }
  return to_string(value);
}

}  // namespace

Named::Named(const char* text) : Named{std::string{text}} {}

Named::Named(const std::string& text) {
  if (!text.empty()) *this = Reader{text}.named();
}

std::string Named::text() const {
  if (options.empty()) return name;
  std::string made = name + '(';
  for (const Params::Entry& option : options.entries()) {
    if (made.back() != '(') made += ", ";
    made += option.name + '=' + text_of(option.value);
  }
  return made + ')';
}

}  // namespace stoker::nn
