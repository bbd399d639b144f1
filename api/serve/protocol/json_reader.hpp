// Reads JSON (RFC 8259) from its beginning to its end, without a document: the caller says what it expects.
//
//     JsonReader reader{text, 64};
//     reader.object([&](std::string_view key) {
//       if (key == "id") id = reader.string(); else reader.skip_value();
//     });
//     reader.finish();
//
// Strings are checked to be UTF-8. Nothing recurses: lists within lists that are skipped use a byte of memory each.
//
// Threads: as a value. The text must outlive the reader. Errors are thrown: invalid_argument for malformed JSON, also
// for lists and objects beyond the nesting, with line and column (both from 1, the column in bytes).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "stoker/api/serve/protocol/refusal.hpp"

namespace stoker::serve::protocol {

class JsonReader {
 public:
  /// `nesting`: how many lists and objects may be open. `note` is appended to the error if the text ends too early or
  /// too late.
  JsonReader(std::string_view text, std::uint32_t nesting, std::string note = {});

  /// The first character of the next value or sign. Refuses the end of the text.
  char next() {
    skip_space();
    if (at_ == end_) refuse_end();
    return *at_;
  }
  /// Whether the next character was `wanted`, and is now behind the reader.
  bool take(char wanted) {
    if (next() != wanted) return false;
    ++at_;
    return true;
  }
  /// Calls `member` with each key; it must read or skip the value. The key is valid until the next string is read.
  template <class Member> void object(Member&& member) {
    open('{', "an object");
    if (!take('}')) do {
        const std::string_view key = this->key();
        member(key);
      } while (goes_on('}'));
    --depth_;
  }
  /// Calls `item` for each value of a list; it must read or skip it.
  template <class Item> void list(Item&& item) {
    open('[', "a list");
    if (!take(']')) do
        item();
      while (goes_on(']'));
    --depth_;
  }
  /// A string without its escapes. Valid until the next string is read.
  [[nodiscard]] std::string_view string();
  void string(std::string& into);
  [[nodiscard]] bool boolean();
  /// Whether the next value was null, and is now behind the reader.
  [[nodiscard]] bool null();
  [[nodiscard]] std::uint64_t unsigned_integer();
  void skip_value();
  /// Refuses anything but space up to the end of the text.
  void finish();

  /// The place of `key` in `known`, or known.size(). Sets its bit in `seen`; refuses a key whose bit is set.
  [[nodiscard]] std::size_t place_of(std::string_view key, std::span<const std::string_view> known,
                                     std::uint32_t& seen) const;

  /// For readers of elements, which move by themselves.
  [[nodiscard]] const char* at() const noexcept { return at_; }
  [[nodiscard]] const char* end() const noexcept { return end_; }
  void move_to(const char* at) noexcept { at_ = at; }
  /// Refuses if so many more lists within each other are too many.
  void check_nesting(std::size_t more) const;

  /// " (line 1, column 20)"
  [[nodiscard]] std::string place(const char* at) const;
  [[noreturn]] void refuse_malformed(const char* at, std::string_view why) const;
  [[noreturn]] void refuse_end() const;
  /// For a number that was malformed at at().
  [[noreturn]] void refuse_number() const;
  /// Refuses the next value: "expected a string, came a number".
  [[noreturn]] void refuse_value(std::string_view expected);
  /// What the next value is: "a number", "null", …. Refuses malformed JSON.
  [[nodiscard]] std::string_view kind_of_next();

 private:
  void skip_space() noexcept {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  void open(char bracket, std::string_view expected);
  std::string_view key();
  void skip_key();
  /// Behind a value: true after a comma, false after the bracket.
  bool goes_on(char bracket);
  template <class Take> void string_pieces(Take&& take_piece);
  /// The character that the escape at the reader stands for.
  std::uint32_t escaped();
  std::uint32_t four_digits();
  void skip_scalar(char first);
  void literal(std::string_view word);

  const char* const begin_;
  const char* at_;
  const char* const end_;
  const std::uint32_t nesting_;
  std::uint32_t depth_ = 0;
  const std::string note_;
  std::string decoded_;
};

}  // namespace stoker::serve::protocol
