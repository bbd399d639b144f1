// Reading and writing JSON, in one place: a source that calls json::parse() or dump() itself compiles
// nlohmann's parser or serializer once more, which takes seconds.
//
// Pure; any thread. Copying, comparing and writing a document takes stack for each level of lists and
// objects within each other, so text that is not trusted is read with a bound for them.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace stoker {

/// The document; is_discarded() if the text is no JSON or nests deeper than `deepest` levels.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, int deepest = 64);
/// The same. A key that occurs twice in one object is put into `repeated`; the document has one of its
/// values.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, int deepest,
                                        std::optional<std::string>& repeated);
/// The document, however deep. Throws nlohmann::json::exception, which says where the text is no JSON.
[[nodiscard]] nlohmann::json parse_json_or_throw(std::string_view text);

/// What becomes of text in a document that is not UTF-8.
enum class BadUtf8 : std::uint8_t {
  refuse,   ///< nlohmann::json::exception is thrown
  replace,  ///< each bad byte becomes U+FFFD
};

/// The document in one line, or in lines that are indented by so many spaces.
[[nodiscard]] std::string write_json(const nlohmann::json& document, BadUtf8 bad = BadUtf8::refuse,
                                     int indent = -1);

}  // namespace stoker
