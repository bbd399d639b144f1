#include "stoker/api/serve/http/trace_parent.hpp"

#include <algorithm>

namespace stoker::serve::http {
namespace {

bool is_hex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_id(std::string_view text) {
  return is_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

}  // namespace

std::optional<TraceParent> trace_parent_of(std::string_view header) {
  constexpr std::size_t length = 55;
  if (header.size() < length || header[2] != '-' || header[35] != '-' || header[52] != '-')
    return {};
  const std::string_view version = header.substr(0, 2);
  const std::string_view trace = header.substr(3, 32);
  const std::string_view parent = header.substr(36, 16);
  if (!is_hex(version) || version == "ff" || !is_id(trace) || !is_id(parent) ||
      !is_hex(header.substr(53, 2)))
    return {};
  const bool has_more = header.size() > length;
  if (has_more && (version == "00" || header[length] != '-')) return {};
  return TraceParent{.trace_id = std::string{trace}, .parent_id = std::string{parent}};
}

}  // namespace stoker::serve::http
