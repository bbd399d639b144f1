#include "stoker/api/serve/protocol/json_reader.hpp"

#include <algorithm>
#include <cstring>

#include "stoker/api/serve/protocol/json_number.hpp"
#include "stoker/runtime/base/utf8.hpp"

namespace stoker::serve::protocol {
namespace {

constexpr std::string_view no_such_number =
    "NaN and infinities have no JSON; send the tensor in binary";

bool is_plain(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

/// The first character that is not plain: a quote, an escape, a control character, or beyond ASCII.
const char* behind_plain(const char* at, const char* end) noexcept {
  // Eight at once: a byte's high bit is set where it is below 0x20, or equal to the byte in every place of `bytes`.
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t high = ones * 0x80;
  const auto zero_in = [](std::uint64_t bytes) { return (bytes - ones) & ~bytes; };
  for (std::uint64_t word = 0; end - at >= 8; at += 8) {
    std::memcpy(&word, at, sizeof word);
    const std::uint64_t found = word | ((word - ones * 0x20) & ~word) | zero_in(word ^ ones * '"') |
                                zero_in(word ^ ones * '\\');
    if ((found & high) != 0) break;
  }
  return std::find_if_not(at, end, is_plain);
}

}  // namespace

JsonReader::JsonReader(std::string_view text, std::uint32_t nesting, std::string note)
    : begin_{text.data()},
      at_{text.data()},
      end_{text.data() + text.size()},
      nesting_{nesting},
      note_{std::move(note)} {}

std::string_view JsonReader::string() {
  if (next() != '"') refuse_value("a string");
  const char* const first = ++at_;
  const char* const last = behind_plain(first, end_);
  if (last != end_ && *last == '"') {
    at_ = last + 1;
    return {first, last};
  }
  decoded_.clear();
  string_pieces([&](std::string_view piece) { decoded_ += piece; });
  return decoded_;
}

void JsonReader::string(std::string& into) {
  if (next() != '"') refuse_value("a string");
  ++at_;
  into.clear();
  string_pieces([&](std::string_view piece) { into += piece; });
}

template <class Take> void JsonReader::string_pieces(Take&& take_piece) {
  std::string character;
  for (;;) {
    const char* const first = at_;
    at_ = behind_plain(at_, end_);
    while (at_ != end_ && static_cast<unsigned char>(*at_) >= 0x80) {
      const Utf8Character read = first_character({at_, end_});
      if (!read.is_valid()) refuse_malformed(at_, "a string is not UTF-8");
      at_ = behind_plain(at_ + read.bytes, end_);
    }
    if (first != at_) take_piece({first, at_});
    if (at_ == end_) refuse_end();
    if (*at_ == '"') break;
    if (*at_ != '\\') refuse_malformed(at_, "a control character in a string must be escaped");
    character.clear();
    append_utf8(character, escaped());
    take_piece(character);
  }
  ++at_;
}

std::uint32_t JsonReader::escaped() {
  const char* const first = at_++;
  if (at_ == end_) refuse_end();
  switch (*at_++) {
    case '"': return '"';
    case '\\': return '\\';
    case '/': return '/';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'u': break;
    default: refuse_malformed(first, "an unknown escape");
  }
  const std::uint32_t code = four_digits();
  const auto is_low = [](std::uint32_t one) { return one >= 0xdc00 && one < 0xe000; };
  if (is_low(code)) refuse_malformed(first, "a low surrogate without a high one before it");
  if (code < 0xd800 || code >= 0xe000) return code;
  constexpr std::string_view alone = "a high surrogate without a low one behind it";
  if (end_ - at_ < 2 || at_[0] != '\\' || at_[1] != 'u') refuse_malformed(first, alone);
  at_ += 2;
  const std::uint32_t low = four_digits();
  if (!is_low(low)) refuse_malformed(first, alone);
  return 0x10000 + ((code - 0xd800) << 10U) + (low - 0xdc00);
}

std::uint32_t JsonReader::four_digits() {
  std::uint32_t code = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    if (at_ == end_) refuse_end();
    const char c = *at_;
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) refuse_malformed(at_, "expected four hexadecimal digits");
    code = code << 4U | static_cast<std::uint32_t>(digit);
  }
  return code;
}

bool JsonReader::boolean() {
  const char first = next();
  if (first != 't' && first != 'f') refuse_value("true or false");
  literal(first == 't' ? "true" : "false");
  return first == 't';
}

bool JsonReader::null() {
  if (next() != 'n') return false;
  literal("null");
  return true;
}

std::uint64_t JsonReader::unsigned_integer() {
  const char* const first = (static_cast<void>(next()), at_);
  if (kind_of_next() != "a number") refuse_value("an integer");
  std::uint64_t value = 0;
  const NumberRead read = read_number(at_, end_, value);
  if (read == NumberRead::malformed) refuse_number();
  if (read != NumberRead::done)
    refuse(ErrorCode::invalid_argument, "expected an integer of 0 or more" + place(first));
  return value;
}

void JsonReader::skip_value() {
  std::string brackets;  // that close what is open
  for (;;) {
    const char first = next();
    if (first == '{' || first == '[') {
      brackets += first == '{' ? '}' : ']';
      check_nesting(brackets.size());
      ++at_;
      if (!take(brackets.back())) {
        if (first == '{') skip_key();
        continue;
      }
      brackets.pop_back();
    } else {
      skip_scalar(first);
    }
    while (!brackets.empty() && !goes_on(brackets.back())) brackets.pop_back();
    if (brackets.empty()) return;
    if (brackets.back() == '}') skip_key();
  }
}

void JsonReader::skip_scalar(char first) {
  if (first == '"') {
    ++at_;
    string_pieces([](std::string_view) {});
  } else if (first == 't' || first == 'f') {
    static_cast<void>(boolean());
  } else if (!null()) {
    static_cast<void>(kind_of_next());
    detail::WrittenNumber number;
    if (!detail::scan(at_, end_, number)) refuse_number();
  }
}

void JsonReader::literal(std::string_view word) {
  const std::string_view rest{at_, end_};
  if (!rest.starts_with(word)) refuse_malformed(at_, "expected a value");
  at_ += word.size();
}

void JsonReader::open(char bracket, std::string_view expected) {
  if (next() != bracket) refuse_value(expected);
  check_nesting(1);
  ++depth_;
  ++at_;
}

std::string_view JsonReader::key() {
  if (next() != '"') refuse_malformed(at_, "expected a key in quotes");
  const std::string_view key = string();
  if (!take(':')) refuse_malformed(at_, "expected ':'");
  return key;
}

void JsonReader::skip_key() {
  if (next() != '"') refuse_malformed(at_, "expected a key in quotes");
  skip_scalar('"');
  if (!take(':')) refuse_malformed(at_, "expected ':'");
}

bool JsonReader::goes_on(char bracket) {
  if (take(',')) return true;
  if (take(bracket)) return false;
  refuse_malformed(at_, bracket == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
}

void JsonReader::finish() {
  skip_space();
  if (at_ != end_) refuse_malformed(at_, "something follows the end" + note_);
}

std::size_t JsonReader::place_of(std::string_view key, std::span<const std::string_view> known,
                                 std::uint32_t& seen) const {
  const auto found = static_cast<std::size_t>(std::ranges::find(known, key) - known.begin());
  if (found == known.size()) return found;
  const std::uint32_t bit = 1U << found;
  if ((seen & bit) != 0)
    refuse(ErrorCode::invalid_argument, "the key " + in_quotes(key) + " occurs twice" + place(at_));
  seen |= bit;
  return found;
}

void JsonReader::check_nesting(std::size_t more) const {
  if (depth_ + more <= nesting_) return;
  refuse(ErrorCode::invalid_argument, "the JSON has more than " + std::to_string(nesting_) +
                                          " lists and objects within each other" + place(at_));
}

std::string JsonReader::place(const char* at) const {
  const auto line = 1 + std::count(begin_, at, '\n');
  const std::string_view before{begin_, at};
  const std::size_t line_end = before.rfind('\n');
  const std::size_t column = line_end == before.npos ? before.size() + 1 : before.size() - line_end;
  return " (line " + std::to_string(line) + ", column " + std::to_string(column) + ")";
}

void JsonReader::refuse_malformed(const char* at, std::string_view why) const {
  refuse(ErrorCode::invalid_argument, "malformed JSON: " + std::string{why} + place(at));
}

void JsonReader::refuse_end() const { refuse_malformed(end_, "it ends too early" + note_); }

void JsonReader::refuse_number() const {
  if (at_ == end_) refuse_end();
  refuse_malformed(at_, *at_ == 'I' ? no_such_number : "malformed number");
}

std::string_view JsonReader::kind_of_next() {
  switch (next()) {
    case '"': return "a string";
    case '{': return "an object";
    case '[': return "a list";
    case 't':
    case 'f': return "a boolean";
    case 'n': return "null";
    case 'N':
    case 'I': refuse_malformed(at_, no_such_number);
    default: break;
  }
  if (*at_ != '-' && !detail::is_digit(at_, end_)) refuse_malformed(at_, "expected a value");
  return "a number";
}

void JsonReader::refuse_value(std::string_view expected) {
  const std::string_view came = kind_of_next();
  refuse(ErrorCode::invalid_argument,
         "expected " + std::string{expected} + ", came " + std::string{came} + place(at_));
}

}  // namespace stoker::serve::protocol
