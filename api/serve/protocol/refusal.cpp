#include "stoker/api/serve/protocol/refusal.hpp"

#include "stoker/runtime/base/printable.hpp"

namespace stoker::serve::protocol {

void refuse(ErrorCode code, std::string reason, std::vector<Detail> details) {
  throw Error{"infer", code, std::move(reason), std::move(details)};
}

namespace {

/// On one line: a client must not be able to add lines to a log.
std::string on_one_line(std::string_view text) {
  std::string shown;
  for (const char c : printable(text))
    if (c == '\n')
      shown += "\\x0a";
    else if (c == '\t')
      shown += "\\x09";
    else
      shown += c;
  return shown;
}

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 64;
  if (text.size() <= longest) return "'" + on_one_line(text) + "'";
  std::size_t cut = longest;  // not within a character
  while (cut > longest - 4 && (static_cast<unsigned char>(text[cut]) & 0xc0U) == 0x80) --cut;
  return "'" + on_one_line(text.substr(0, cut)) + "…'";
}

}  // namespace stoker::serve::protocol
