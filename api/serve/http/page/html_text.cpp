#include "stoker/api/serve/http/page/html_text.hpp"

namespace stoker::serve::http {

std::string html_text(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      case '\'': safe += "&#39;"; break;
      default: safe += c;
    }
  }
  return safe;
}

std::string filled(std::string_view form,
                   std::span<const std::pair<std::string_view, std::string_view>> values) {
  std::string text;
  for (;;) {
    const std::size_t begin = form.find("{{");
    const std::size_t end = begin == std::string_view::npos ? begin : form.find("}}", begin);
    text += form.substr(0, end == std::string_view::npos ? end : begin);
    if (end == std::string_view::npos) return text;
    const std::string_view name = form.substr(begin + 2, end - begin - 2);
    for (const auto& [key, value] : values)
      if (key == name) text += value;
    form.remove_prefix(end + 2);
  }
}

}  // namespace stoker::serve::http
