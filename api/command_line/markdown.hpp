// The reference pages docs/reference/kernels.md, ops.md and layers.md, as `stoker kernels --markdown` and its kin
// write them. A test compares the pages with the definitions; `./dev docs` writes them again.
//
// Pure functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/runtime/base/dtype.hpp"

namespace stoker::command_line {

/// The text such that Markdown shows every character of it, also within a table.
[[nodiscard]] std::string markdown_text(std::string_view text);
/// The dtypes in words, groups first: "floats, integers, bool".
[[nodiscard]] std::string dtypes_in_words(std::span<const std::string> names);
/// The title, a note that the page is generated, and the introduction.
[[nodiscard]] std::string page_head(std::string_view title, std::string_view introduction);

}  // namespace stoker::command_line
