#include "stoker/api/serve/http/target.hpp"

#include <charconv>

namespace stoker::serve::http {
namespace {

/// Without scheme, authority and query.
std::optional<std::string_view> bare_path(std::string_view target) {
  if (!target.starts_with('/')) {
    constexpr std::string_view mark = "://";
    const std::size_t scheme = target.find(mark);
    if (scheme == std::string_view::npos || scheme == 0) return {};
    target.remove_prefix(scheme + mark.size());
    const std::size_t path = target.find_first_of("/?#");
    if (path == std::string_view::npos || target[path] != '/') return "/";
    target.remove_prefix(path);
  }
  return target.substr(0, target.find_first_of("?#"));
}

std::optional<std::string> decoded(std::string_view segment) {
  std::string text;
  text.reserve(segment.size());
  for (std::size_t i = 0; i < segment.size(); ++i) {
    if (segment[i] != '%') {
      text += segment[i];
      continue;
    }
    const std::string_view digits = segment.substr(i + 1, 2);
    unsigned byte = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, failure] = std::from_chars(digits.data(), end, byte, 16);
    if (digits.size() < 2 || failure != std::errc{} || stop != end) return {};
    text += static_cast<char>(byte);
    i += 2;
  }
  return text;
}

}  // namespace

std::optional<TargetPath> path_of(std::string_view target, std::string_view prefix) {
  const std::optional<std::string_view> bare = bare_path(target);
  if (!bare) return {};
  std::string_view path = *bare;
  TargetPath found;
  found.below =
      path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
  if (!found.below) return found;
  path.remove_prefix(prefix.size());
  while (path.size() > 1) {
    path.remove_prefix(1);  // the slash
    const std::size_t end = path.find('/');
    std::optional<std::string> segment = decoded(path.substr(0, end));
    if (!segment) return {};
    found.segments.push_back(*std::move(segment));
    path.remove_prefix(end == std::string_view::npos ? path.size() : end);
  }
  return found;
}

}  // namespace stoker::serve::http
