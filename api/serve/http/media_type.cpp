#include "stoker/api/serve/http/media_type.hpp"

#include <algorithm>
#include <array>

namespace stoker::serve::http {
namespace {

bool same_word(std::string_view a, std::string_view b) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view without_space(std::string_view text) noexcept {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

bool is_body_type(std::string_view content_type) noexcept {
  constexpr std::array<std::string_view, 4> taken{
      "", "application/json", "application/octet-stream", "application/x-www-form-urlencoded"};
  const std::string_view name = without_space(content_type.substr(0, content_type.find(';')));
  return std::ranges::any_of(taken, [&](std::string_view one) { return same_word(name, one); });
}

}  // namespace stoker::serve::http
