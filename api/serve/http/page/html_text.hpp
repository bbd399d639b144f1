// Texts within HTML.
//
// Pure functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace stoker::serve::http {

/// As the content of an element, or of an attribute in double quotation marks.
[[nodiscard]] std::string html_text(std::string_view text);

/// The template with what stands for its places, which look like {{name}}. Values are taken as they are. A place
/// without a value becomes nothing.
[[nodiscard]] std::string filled(
    std::string_view form, std::span<const std::pair<std::string_view, std::string_view>> values);

}  // namespace stoker::serve::http
