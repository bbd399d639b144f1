// Text of strangers (scripts, files, models, other programs) on its way to a terminal or a log.
#pragma once

#include <string>
#include <string_view>

namespace stoker {

/// The text with everything that a terminal would obey instead of show written as \xNN: control
/// characters, those of C1 in UTF-8 included, and bytes that are no UTF-8. Line ends and tabs stay.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace stoker
