// Content codings of HTTP bodies: gzip and deflate, in both directions.
//
// Pure functions; any thread; large bodies take a while. Errors are thrown: invalid_argument for bytes that are not
// what they are said to be, limit_exceeded, std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/api/serve/http/exchange.hpp"

namespace stoker::serve::http {

enum class Coding : std::uint8_t { identity, gzip, deflate };  // identity is 0

/// As Content-Encoding names it: "", "identity", "gzip", "x-gzip" or "deflate". Nothing for all others, and for
/// several.
[[nodiscard]] std::optional<Coding> coding_of(std::string_view content_encoding) noexcept;
/// What an answer to that Accept-Encoding may have, by its weights; gzip if it likes both alike.
[[nodiscard]] Coding accepted_coding(std::string_view accept_encoding) noexcept;

/// The body as it was before; at most `limit` bytes. deflate may come without its wrapper, as some clients send it.
[[nodiscard]] std::string decoded(std::string_view bytes, Coding coding, std::uint64_t limit);

/// Compresses the body of an answer where this pays, and says so in its headers. A small body stays as it is, and so
/// does one whose beginning hardly shrinks.
void encode(HttpAnswer& answer, Coding coding);

}  // namespace stoker::serve::http
