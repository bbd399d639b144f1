#include "stoker/api/onnx/core/letter_case.hpp"

#include <algorithm>
#include <cwchar>
#include <locale>
#include <stdexcept>

#include "stoker/runtime/base/error.hpp"

namespace stoker::onnx {
namespace {

using Converter = std::codecvt<wchar_t, char, std::mbstate_t>;

/// Found once: the search costs more than a long text.
const std::locale& unicode() {
  try {
    static const std::locale found{"C.UTF-8"};
    return found;
  } catch (const std::runtime_error&) {
    throw Error{
        "onnx", ErrorCode::unsupported,
        "the case of letters beyond ASCII needs the locale C.UTF-8, which this machine lacks"};
  }
}

[[noreturn]] void refuse() {
  throw Error{"onnx", ErrorCode::invalid_argument, "a string is no UTF-8"};
}

std::wstring decoded(std::string_view text, const Converter& converter) {
  std::wstring letters(text.size(), L'\0');
  std::mbstate_t state{};
  const char* read = text.data();
  wchar_t* written = letters.data();
  if (converter.in(state, read, text.data() + text.size(), read, written,
                   letters.data() + letters.size(), written) != Converter::ok ||
      std::mbsinit(&state) == 0)  // the text ends within a letter
    refuse();
  letters.resize(static_cast<std::size_t>(written - letters.data()));
  constexpr wchar_t last = 0x10FFFF;
  if (std::ranges::any_of(letters, [](wchar_t letter) { return letter > last; })) refuse();
  return letters;
}

std::string encoded(const std::wstring& letters, const Converter& converter) {
  std::string text(letters.size() * 4, '\0');
  std::mbstate_t state{};
  const wchar_t* read = letters.data();
  char* written = text.data();
  if (converter.out(state, read, letters.data() + letters.size(), read, written,
                    text.data() + text.size(), written) != Converter::ok)
    refuse();
  text.resize(static_cast<std::size_t>(written - text.data()));
  return text;
}

template <class Letters>
void change(Letters& letters, const std::locale& locale, LetterCase wanted) {
  for (auto& letter : letters)
    letter =
        wanted == LetterCase::upper ? std::toupper(letter, locale) : std::tolower(letter, locale);
}

}  // namespace

std::string in_case(std::string_view text, LetterCase wanted) {
  std::string changed{text};
  const bool is_ascii =
      std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (is_ascii) {
    change(changed, std::locale::classic(), wanted);
    return changed;
  }
  const std::locale& locale = unicode();
  const auto& converter = std::use_facet<Converter>(locale);
  std::wstring letters = decoded(text, converter);
  change(letters, locale, wanted);
  return encoded(letters, converter);
}

}  // namespace stoker::onnx
