// Compressed HTTP bodies, and what clients say of codings. The first byte chooses, the rest is the body or the field.
#include "fuzz.hpp"
#include "stoker/api/serve/http/encoding/content_coding.hpp"

namespace stoker::fuzz::coding {
namespace {

using serve::http::Coding;

constexpr std::uint64_t limit = std::uint64_t{1} << 20;

/// As an answer it is compressed, if it becomes smaller, and then reads the same.
void answer(const std::string& body, Coding coding) {
  HttpAnswer answer{.headers = {}, .body = body};
  encode(answer, coding);
  const bool is_coded = !answer.header("Content-Encoding").empty();
  require(!is_coded || answer.body.size() < body.size(), "a coded answer is smaller");
  require((is_coded ? serve::http::decoded(answer.body, coding, body.size()) : answer.body) == body,
          "an answer is decoded to what it was");
}

}  // namespace

void run(Bytes bytes) {
  Decisions decide{bytes};
  const std::uint8_t choice = decide.byte();
  const Bytes rest = decide.rest();
  const std::string_view text{reinterpret_cast<const char*>(rest.data()), rest.size()};
  if (choice % 3 == 0) {
    static_cast<void>(serve::http::accepted_coding(text));
    static_cast<void>(serve::http::coding_of(text));
    return;
  }
  const Coding coding = choice % 3 == 1 ? Coding::gzip : Coding::deflate;
  const auto body = accepted([&] { return serve::http::decoded(text, coding, limit); });
  if (!body) return;
  require(body->size() <= limit, "a body has no more bytes than it may");
  answer(*body, coding);
}

}  // namespace stoker::fuzz::coding
