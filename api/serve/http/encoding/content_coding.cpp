#include "stoker/api/serve/http/encoding/content_coding.hpp"

#include <zlib.h>

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <limits>
#include <new>
#include <utility>

#include "stoker/runtime/base/error.hpp"

namespace stoker::serve::http {
namespace {

constexpr int window = 15;
constexpr int gzip_window = window + 16;
constexpr int raw_window = -window;
/// A smaller body takes as many packets whatever is done to it.
constexpr std::size_t least_body = 1024;
/// What is tried of a larger body before all of it is compressed.
constexpr std::size_t sample = std::size_t{64} << 10;

using boost::beast::iequals;

uInt piece_of(std::size_t bytes) noexcept {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
}
Bytef* pointer_to(const char* bytes) noexcept {
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes));  // NOLINT: zlib only reads it
}

/// A stream of zlib, ended with its owner.
class ZlibStream {
 public:
  using End = int (*)(z_streamp);
  ZlibStream(End end, std::string_view from) noexcept : end_{end}, from_{from} {}
  ~ZlibStream() {
    if (begun_) end_(&state_);
  }
  ZlibStream(const ZlibStream&) = delete;
  ZlibStream& operator=(const ZlibStream&) = delete;

  [[nodiscard]] z_streamp state() noexcept { return &state_; }
  void begin(int code) {
    if (code != Z_OK) throw std::bad_alloc{};
    begun_ = true;
  }
  /// Calls the step with what is left of the input and with the bytes from `written` on.
  template <class Step> int take(std::string& into, std::size_t& written, Step step) {
    state_.next_in = pointer_to(from_.data());
    state_.avail_in = piece_of(from_.size());
    state_.next_out = pointer_to(into.data() + written);
    state_.avail_out = piece_of(into.size() - written);
    const uInt in = state_.avail_in;
    const uInt out = state_.avail_out;
    const int code = step(&state_);
    from_.remove_prefix(in - state_.avail_in);
    written += out - state_.avail_out;
    return code;
  }
  [[nodiscard]] bool is_empty() const noexcept { return from_.empty(); }

 private:
  z_stream state_{};
  const End end_;
  std::string_view from_;
  bool begun_ = false;
};

/// Whether it begins as zlib's wrapper does.
bool has_wrapper(std::string_view bytes) noexcept {
  if (bytes.size() < 2) return true;
  const unsigned first = static_cast<unsigned char>(bytes[0]);
  const unsigned second = static_cast<unsigned char>(bytes[1]);
  return (first & 0x0fU) == Z_DEFLATED && (256 * first + second) % 31 == 0;
}

[[noreturn]] void refuse(const char* why) {
  throw Error{"infer", ErrorCode::invalid_argument, std::string{"the compressed body "} + why};
}

/// The body compressed; nothing if it becomes no smaller than `most` bytes.
std::optional<std::string> compressed(std::string_view body, Coding coding, std::size_t most) {
  ZlibStream stream{deflateEnd, body};
  stream.begin(deflateInit2(stream.state(), Z_BEST_SPEED, Z_DEFLATED,
                            coding == Coding::gzip ? gzip_window : window, 8, Z_DEFAULT_STRATEGY));
  std::string into(most, '\0');
  std::size_t written = 0;
  for (;;) {
    const std::size_t before = written;
    const int code = stream.take(into, written, [&](z_streamp state) {
      return deflate(state, state->avail_in == 0 ? Z_FINISH : Z_NO_FLUSH);
    });
    if (code == Z_STREAM_END) break;
    const bool is_full = written == into.size();
    if (is_full || code == Z_STREAM_ERROR || (written == before && stream.is_empty())) return {};
  }
  into.resize(written);
  return into;
}

}  // namespace

std::optional<Coding> coding_of(std::string_view name) noexcept {
  if (name.empty() || iequals(name, "identity")) return Coding::identity;
  if (iequals(name, "gzip") || iequals(name, "x-gzip")) return Coding::gzip;
  if (iequals(name, "deflate")) return Coding::deflate;
  return {};
}

Coding accepted_coding(std::string_view accept_encoding) noexcept {
  constexpr std::string_view space = " \t";
  const auto trim = [&](std::string_view text) {
    const std::size_t first = text.find_first_not_of(space);
    if (first == text.npos) return std::string_view{};
    return text.substr(first, text.find_last_not_of(space) - first + 1);
  };
  // In thousandths, as RFC 9110 has them: "0.5", "1.000".
  const auto weight_of = [&](std::string_view parameters) {
    const std::string_view text = trim(parameters);
    if (text.size() < 3 || !iequals(text.substr(0, 2), "q=")) return 1000;
    int weight = text[2] == '1' ? 1000 : 0;
    int digit = 100;
    for (std::size_t i = 4; i < text.size() && weight < 1000; ++i, digit /= 10)
      if (text[i] >= '0' && text[i] <= '9') weight += digit * (text[i] - '0');
    return weight;
  };
  int gzip = -1;
  int deflate = -1;
  int others = 0;  // "*"
  while (!accept_encoding.empty()) {
    const std::size_t comma = accept_encoding.find(',');
    const std::string_view entry = accept_encoding.substr(0, comma);
    accept_encoding.remove_prefix(comma == entry.npos ? accept_encoding.size() : comma + 1);
    const std::size_t semicolon = entry.find(';');
    const std::string_view name = trim(entry.substr(0, semicolon));
    const int weight = semicolon == entry.npos ? 1000 : weight_of(entry.substr(semicolon + 1));
    if (name == "*") {
      others = weight;
    } else if (const auto coding = coding_of(name); coding == Coding::gzip) {
      gzip = weight;
    } else if (coding == Coding::deflate) {
      deflate = weight;
    }
  }
  if (gzip < 0) gzip = others;
  if (deflate < 0) deflate = others;
  if (gzip == 0 && deflate == 0) return Coding::identity;
  return gzip >= deflate ? Coding::gzip : Coding::deflate;
}

std::string decoded(std::string_view bytes, Coding coding, std::uint64_t limit) {
  if (coding == Coding::identity) return std::string{bytes};
  ZlibStream stream{inflateEnd, bytes};
  const int bits = coding == Coding::gzip ? gzip_window : has_wrapper(bytes) ? window : raw_window;
  stream.begin(inflateInit2(stream.state(), bits));
  std::string body;
  std::size_t written = 0;
  for (;;) {
    if (written == body.size()) {
      if (written > limit)
        throw Error{
            "infer", ErrorCode::limit_exceeded,
            "the body has more than " + std::to_string(limit) + " bytes when it is decoded"};
      // One byte more than may come shows that there are too many.
      const std::uint64_t wanted = std::max<std::uint64_t>(4096, 2 * std::uint64_t{written});
      body.resize(std::max<std::uint64_t>(written + 1, std::min(wanted, limit + 1)));
    }
    const int code =
        stream.take(body, written, [](z_streamp state) { return inflate(state, Z_NO_FLUSH); });
    if (code == Z_MEM_ERROR) throw std::bad_alloc{};
    if (code == Z_STREAM_END) {
      if (stream.is_empty()) break;
      if (coding != Coding::gzip) refuse("has further bytes behind its end");
      inflateReset(stream.state());  // gzip's parts follow each other
      continue;
    }
    if (code != Z_OK && code != Z_BUF_ERROR) refuse("is not what Content-Encoding says");
    if (stream.is_empty() && written < body.size()) refuse("ends too early");
  }
  if (written > limit)
    throw Error{"infer", ErrorCode::limit_exceeded,
                "the body has more than " + std::to_string(limit) + " bytes when it is decoded"};
  body.resize(written);
  return body;
}

void encode(HttpAnswer& answer, Coding coding) {
  const std::string_view body = answer.body;
  if (coding == Coding::identity || body.size() < least_body) return;
  answer.headers.emplace_back("Vary", "Accept-Encoding");
  const auto worth = [](std::size_t bytes) { return bytes - bytes / 8; };
  if (body.size() > 4 * sample && !compressed(body.substr(0, sample), coding, worth(sample)))
    return;
  std::optional<std::string> smaller = compressed(body, coding, worth(body.size()));
  if (!smaller) return;
  answer.body = *std::move(smaller);
  answer.headers.emplace_back("Content-Encoding", coding == Coding::gzip ? "gzip" : "deflate");
}

}  // namespace stoker::serve::http
