#include "stoker/api/serve/calls/access_tokens.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "stoker/runtime/base/error.hpp"

namespace stoker {
namespace {

using Tokens = std::vector<std::string>;

/// As RFC 6750 has it.
bool is_token(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view{"-._~+/="}.find(c) != std::string_view::npos;
  });
}

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view space = " \t\r";
  const std::size_t first = line.find_first_not_of(space);
  if (first == line.npos) return {};
  return line.substr(first, line.find_last_not_of(space) - first + 1);
}

Tokens read_tokens(const std::filesystem::path& file) {
  const auto refuse = [&](ErrorCode code, const std::string& why) {
    throw Error{"access_tokens",
                code,
                "the file of tokens '" + file.string() + "' " + why,
                {{"file", file.string()}}};
  };
  Tokens tokens;
  if (file.empty()) return tokens;
  std::error_code unknown;
  if (!std::filesystem::exists(file, unknown)) refuse(ErrorCode::not_found, "is not there");
  std::ifstream lines{file};
  if (!lines) refuse(ErrorCode::io_error, "cannot be read");
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string_view token = trimmed(line);
    if (token.empty() || token.front() == '#') continue;
    // The line is not shown: it may be a token with a slip of the pen.
    if (!is_token(token))
      refuse(ErrorCode::invalid_argument, "has no token in line " + std::to_string(number));
    tokens.emplace_back(token);
  }
  if (lines.bad()) refuse(ErrorCode::io_error, "cannot be read");
  if (tokens.empty()) refuse(ErrorCode::invalid_argument, "has no token");
  return tokens;
}

/// Looks at as many characters whatever they are, and whatever the token's length.
bool is_same(std::string_view given, std::string_view token) noexcept {
  unsigned difference = given.size() == token.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i)
    difference |= static_cast<unsigned char>(given[i] ^ token[i % token.size()]);
  // Or the compiler might end the loop early.
  const volatile unsigned all = difference;
  return all == 0;
}

bool has(const Tokens& tokens, std::string_view given) noexcept {
  bool found = false;
  for (const std::string& token : tokens) {
    const bool same = is_same(given, token);
    found = found || same;
  }
  return found;
}

}  // namespace

struct AccessTokens::Lists {
  Tokens inference;
  Tokens control;
};

AccessTokens::AccessTokens(AccessTokenFiles files) : files_{std::move(files)} { reload(); }

void AccessTokens::reload() {
  auto lists = std::make_shared<const Lists>(
      Lists{read_tokens(files_.inference), read_tokens(files_.control)});
  const std::lock_guard lock{mutex_};
  lists_.swap(lists);
}

AccessTokens::Opens AccessTokens::opened_by(std::string_view token) const {
  std::shared_ptr<const Lists> lists;
  {
    const std::lock_guard lock{mutex_};
    lists = lists_;
  }
  const bool opens_inference = has(lists->inference, token);
  if (has(lists->control, token)) return Opens::all;
  return opens_inference ? Opens::inference : Opens::nothing;
}

std::string_view AccessTokens::bearer(std::string_view authorization) noexcept {
  constexpr std::string_view scheme = "bearer";
  const std::size_t space = authorization.find(' ');
  // ASCII in any case, whatever the locale says.
  const auto same = [](char one, char two) { return (one | 0x20) == two; };
  if (space == authorization.npos ||
      !std::ranges::equal(authorization.substr(0, space), scheme, same))
    return {};
  const std::size_t first = authorization.find_first_not_of(' ', space);
  return first == authorization.npos ? std::string_view{} : authorization.substr(first);
}

}  // namespace stoker
