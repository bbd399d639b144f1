// JSON that is not trusted.
//
// Pure; any thread. Copying, comparing and writing a document takes stack for each level of lists and
// objects within each other, so one that nests deeper than its reader expects is none.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace stoker {

/// The document; is_discarded() if the text is no JSON or nests deeper than `deepest` levels.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, int deepest = 64);

}  // namespace stoker
