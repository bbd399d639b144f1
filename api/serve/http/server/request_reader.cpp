#include "stoker/api/serve/http/server/request_reader.hpp"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <new>
#include <utility>

#include "stoker/api/serve/http/answers.hpp"

namespace stoker::serve::http {
namespace {

namespace beast = boost::beast::http;
using Fields = beast::fields;

constexpr std::string_view end_of_head = "\r\n\r\n";

std::size_t count(const Fields& fields, beast::field name) {
  const auto [first, last] = fields.equal_range(name);
  return static_cast<std::size_t>(std::distance(first, last));
}

/// Whether the lines from that byte on are whole: every CR has its LF and every LF its CR, and no line continues the
/// one before it. The last byte may wait for its next.
bool has_whole_lines(std::string_view head, std::size_t from) {
  for (std::size_t i = from; i < head.size(); ++i) {
    const char before = i > 0 ? head[i - 1] : '\0';
    const char byte = head[i];
    if (byte == '\0' || (byte == '\n') != (before == '\r')) return false;
    if (before == '\n' && (byte == ' ' || byte == '\t')) return false;
  }
  return true;
}

/// Whether the request line ends as one of some version does.
bool names_http(std::string_view head) {
  const std::string_view line = head.substr(0, head.find("\r\n"));
  return line.substr(line.rfind(' ') + 1).starts_with("HTTP/");
}

/// Why the framing of a request is ambiguous; null if it is not.
const char* ambiguity_of(const beast::request_header<Fields>& header) {
  if (header.version() >= 11 && count(header, beast::field::host) != 1)
    return "a request needs one field Host";
  const auto lengths = header[beast::field::content_length];
  if (count(header, beast::field::content_length) > 1 || lengths.find(',') != lengths.npos)
    return "a request may have one Content-Length";
  const std::size_t encodings = count(header, beast::field::transfer_encoding);
  if (encodings == 0) return nullptr;
  if (header.version() < 11) return "HTTP/1.0 has no Transfer-Encoding";
  if (encodings > 1 || !boost::beast::iequals(header[beast::field::transfer_encoding], "chunked"))
    return "the only Transfer-Encoding is chunked";
  return nullptr;
}

}  // namespace

RequestReader::RequestReader(const HttpServerOptions& options, bool is_local)
    : options_{options}, is_local_{is_local} {
  restart();
}

void RequestReader::restart() {
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(options_.header_bytes) + 1);
  parser_->body_limit(options_.body_bytes);
  chunks_ = {};
  parser_->on_chunk_header(chunks_);
  searched_ = 0;
  has_head_ = false;
  head_ = {};
}

RequestReader::Progress RequestReader::read(std::string_view bytes, std::size_t& used) {
  used = 0;
  if (refused_with_) return Progress::refused;
  if (!has_head_) return read_head(bytes, used);
  while (!parser_->is_done()) {
    const std::string_view rest = bytes.substr(used);
    if (rest.empty()) return Progress::more;
    boost::beast::error_code failure;
    used += put(rest, failure);
    if (refused_with_) return Progress::refused;
    if (failure == beast::error::need_more) return Progress::more;
    if (failure) return refuse(failure);
  }
  return complete(bytes.data() + used);
}

std::size_t RequestReader::put(std::string_view bytes, boost::beast::error_code& failure) {
  try {
    return parser_->put(boost::asio::buffer(bytes.data(), bytes.size()), failure);
  } catch (const std::bad_alloc&) {
    refuse(unavailable("memory is exhausted"));
    return 0;
  }
}

void RequestReader::ChunkLines::operator()(std::uint64_t size, boost::beast::string_view extensions,
                                           boost::beast::error_code& failure) {
  // Beast takes it within quotes.
  if (extensions.find('\n') != extensions.npos) failure = beast::error::bad_chunk_extension;
  if (size == 0) end_of_last = extensions.data() + extensions.size();
}

// Beast takes the last chunk's line and the trailers as one piece, so both are in the bytes that came last.
RequestReader::Progress RequestReader::complete(const char* end) {
  if (chunks_.end_of_last == nullptr) return Progress::complete;
  const std::string_view trailers{chunks_.end_of_last, end};
  if (!has_whole_lines(trailers, 0)) return refuse(400, "the trailers have broken lines");
  if (trailers.size() > options_.header_bytes) return refuse(400, "the trailers are too long");
  return Progress::complete;
}

// The parser gets a head as one piece, so that the rules for its lines see all of it.
RequestReader::Progress RequestReader::read_head(std::string_view bytes, std::size_t& used) {
  // An empty line before a request is the end of an earlier one that was sent once too often.
  while (searched_ == 0 && bytes.substr(used).starts_with("\r\n")) used += 2;
  const std::string_view rest = bytes.substr(used);
  if (rest.empty() || rest == "\r") return Progress::more;
  const std::size_t end = rest.find(end_of_head, std::max<std::size_t>(searched_, 3) - 3);
  const std::string_view head = rest.substr(0, end == rest.npos ? end : end + end_of_head.size());
  if (!has_whole_lines(head, searched_)) return refuse(400, "the head has broken lines");
  if (head.size() > options_.header_bytes ||
      (end == rest.npos && head.size() == options_.header_bytes)) {
    if (head.find("\r\n") == head.npos) return refuse(414, "the request line is too long");
    return refuse(431,
                  "the head is longer than " + std::to_string(options_.header_bytes) + " bytes");
  }
  searched_ = head.size();
  if (end == rest.npos) return Progress::more;
  boost::beast::error_code failure;
  used += parser_->put(boost::asio::buffer(head.data(), head.size()), failure);
  if (failure == beast::error::bad_version && names_http(head))
    return refuse(505, "the version is neither HTTP/1.1 nor 1.0");
  if (failure == beast::error::body_limit) note_head();  // it is whole; the body is too long
  if (failure) return refuse(failure);
  return take_head();
}

void RequestReader::note_head() {
  const auto& header = parser_->get().base();
  question_ = question_of(header);
  question_.is_local = is_local_;
  head_ = {.form = {.version = header.version(),
                    .keep_alive = parser_->get().keep_alive(),
                    .is_head = header.method() == beast::verb::head}};
}

RequestReader::Progress RequestReader::take_head() {
  const auto& header = parser_->get().base();
  note_head();
  if (const char* const ambiguity = ambiguity_of(header)) return refuse(400, ambiguity);
  if (header.target().size() > options_.target_bytes)
    return refuse(414,
                  "the target is longer than " + std::to_string(options_.target_bytes) + " bytes");
  const auto expected = header[beast::field::expect];
  if (!expected.empty() && header.version() >= 11) {
    if (!boost::beast::iequals(expected, "100-continue"))
      return refuse(417, "the only expectation is 100-continue");
    head_.wants_continue = true;
  }
  has_head_ = true;
  parser_->eager(true);
  return Progress::head;
}

bool RequestReader::is_amid(std::size_t waiting) const {
  return !refused_with_ && (has_head_ || waiting > 0);
}

std::size_t RequestReader::body_bytes() const { return parser_->get().body().size(); }

std::uint64_t RequestReader::promised_bytes() const {
  return parser_->content_length().value_or(0);
}

HttpQuestion RequestReader::take() {
  question_.body = std::move(parser_->get().body());
  restart();
  return std::exchange(question_, {});
}

RequestReader::Progress RequestReader::refuse(HttpAnswerPtr answer) {
  refused_with_ = std::move(answer);
  std::string{}.swap(parser_->get().body());  // the client may take its time to go
  return Progress::refused;
}

RequestReader::Progress RequestReader::refuse(unsigned status, std::string_view reason) {
  return refuse(refusal(status, reason));
}

RequestReader::Progress RequestReader::refuse(boost::beast::error_code failure) {
  if (failure == beast::error::body_limit)
    return refuse(413, "the body is larger than " + std::to_string(options_.body_bytes) + " bytes");
  return refuse(400, "this is no HTTP request: " + failure.message());
}

}  // namespace stoker::serve::http
