// Compressed bodies: what zlib writes is read, what is read is bounded, and answers are compressed where it pays.
#include "stoker/api/serve/http/encoding/content_coding.hpp"

#include <zlib.h>

#include <random>

#include "stoker/tests/serve/http_house.hpp"

namespace stoker::serve::http {
namespace {

constexpr int gzip = 15 + 16;
constexpr int wrapped = 15;
constexpr int raw = -15;

std::string packed(const std::string& body, int window_bits) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string into(deflateBound(&stream, body.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  stream.next_out = reinterpret_cast<Bytef*>(into.data());
  stream.avail_out = static_cast<uInt>(into.size());
  deflate(&stream, Z_FINISH);
  into.resize(stream.total_out);
  deflateEnd(&stream);
  return into;
}
std::string noise(std::size_t bytes) {
  std::mt19937 engine{7};
  std::string text(bytes, '\0');
  for (char& byte : text) byte = static_cast<char>(engine());
  return text;
}
constexpr std::uint64_t much = std::uint64_t{1} << 30;
ErrorCode refusal(const std::string& bytes, Coding coding, std::uint64_t limit = much) {
  return refusal_of([&] { static_cast<void>(decoded(bytes, coding, limit)); }).code();
}

TEST(Codings, are_named_as_headers_name_them) {
  EXPECT_EQ(coding_of(""), Coding::identity);
  EXPECT_EQ(coding_of("Identity"), Coding::identity);
  EXPECT_EQ(coding_of("GZIP"), Coding::gzip);
  EXPECT_EQ(coding_of("x-gzip"), Coding::gzip);
  EXPECT_EQ(coding_of("deflate"), Coding::deflate);
  for (const char* other : {"br", "gzip, gzip", "gzip,", "zstd"})
    EXPECT_EQ(coding_of(other), std::nullopt) << other;
}

TEST(Codings, of_answers_are_those_that_the_client_likes_best) {
  const std::vector<std::pair<const char*, Coding>> cases{
      {"", Coding::identity},
      {"br, zstd", Coding::identity},
      {"gzip, deflate, br", Coding::gzip},
      {"deflate, gzip", Coding::gzip},
      {"deflate", Coding::deflate},
      {"gzip;q=0.5, deflate;q=0.8", Coding::deflate},
      {"gzip ; q=0.801,deflate;Q=0.8", Coding::gzip},
      {"gzip;q=0, deflate;q=0.000", Coding::identity},
      {"gzip;q=0, *", Coding::deflate},
      {"*;q=0.1", Coding::gzip},
      {"*;q=0", Coding::identity},
      {",,;q=1,", Coding::identity},
      {"gzip;q=", Coding::gzip},
      {"identity", Coding::identity}};
  for (const auto& [header, expected] : cases)
    EXPECT_EQ(accepted_coding(header), expected) << header;
}

TEST(Codings, are_undone) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4096},
                                  std::size_t{100'000}, std::size_t{3'000'000}}) {
    for (const std::string& body : {std::string(bytes, 'a'), noise(bytes)}) {
      EXPECT_TRUE(decoded(packed(body, gzip), Coding::gzip, bytes) == body);
      EXPECT_TRUE(decoded(packed(body, wrapped), Coding::deflate, bytes) == body);
      EXPECT_TRUE(decoded(packed(body, raw), Coding::deflate, bytes) == body) << "as some send it";
    }
  }
  EXPECT_EQ(decoded(packed("ab", gzip) + packed("cd", gzip), Coding::gzip, 4), "abcd");
  EXPECT_EQ(decoded("as it is", Coding::identity, 0), "as it is");
}

TEST(Codings, are_refused_if_they_are_broken) {
  const std::string whole = packed(noise(10'000), gzip);
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 97)
    EXPECT_EQ(refusal(whole.substr(0, bytes), Coding::gzip), ErrorCode::invalid_argument) << bytes;
  std::string spoilt = whole;
  spoilt.back() = static_cast<char>(spoilt.back() + 1);  // of its length
  EXPECT_EQ(refusal(spoilt, Coding::gzip), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(whole + "x", Coding::gzip), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(packed("a", wrapped) + "x", Coding::deflate), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal("{\"inputs\":[]}", Coding::gzip), ErrorCode::invalid_argument);
}

TEST(Codings, become_no_more_bytes_than_they_may) {
  const std::string bomb = packed(std::string(5'000'000, 'a'), gzip);
  EXPECT_LT(bomb.size(), 10'000U);
  EXPECT_EQ(refusal(bomb, Coding::gzip, 4'999'999), ErrorCode::limit_exceeded);
  EXPECT_EQ(refusal(bomb, Coding::gzip, 10), ErrorCode::limit_exceeded);
  EXPECT_EQ(decoded(bomb, Coding::gzip, 5'000'000).size(), 5'000'000U);
  std::string parts;
  for (int n = 0; n < 11; ++n) parts += packed("a", gzip);
  EXPECT_EQ(refusal(parts, Coding::gzip, 10), ErrorCode::limit_exceeded) << "all together";
}

TEST(Codings, are_given_to_answers_that_become_smaller) {
  const auto coded = [](std::string body, Coding coding) {
    HttpAnswer answer{.headers = {}, .body = std::move(body)};
    encode(answer, coding);
    return answer;
  };
  for (const std::size_t bytes : {std::size_t{1024}, std::size_t{1'000'000}}) {
    const std::string text(bytes, '7');
    const HttpAnswer zipped = coded(text, Coding::gzip);
    EXPECT_EQ(zipped.header("Content-Encoding"), "gzip");
    EXPECT_EQ(zipped.header("Vary"), "Accept-Encoding");
    EXPECT_LT(zipped.body.size(), bytes / 4);
    EXPECT_TRUE(decoded(zipped.body, Coding::gzip, bytes) == text);
    const HttpAnswer deflated = coded(text, Coding::deflate);
    EXPECT_EQ(deflated.header("Content-Encoding"), "deflate");
    EXPECT_TRUE(decoded(deflated.body, Coding::deflate, bytes) == text);
    const HttpAnswer noisy = coded(noise(bytes), Coding::gzip);
    EXPECT_EQ(noisy.header("Content-Encoding"), "");
    EXPECT_TRUE(noisy.body == noise(bytes));
  }
  EXPECT_EQ(coded(std::string(1023, '7'), Coding::gzip).header("Content-Encoding"), "") << "small";
  EXPECT_EQ(coded(std::string(5000, '7'), Coding::identity).body.size(), 5000U);
}

TEST_F(HttpHouse, reads_compressed_bodies_and_compresses_its_answers) {
  RawClient client{open()};
  const auto ask = [&](const std::string& body, const std::string& fields) {
    return client.ask(post("/v2/models/line/infer", body, fields));
  };
  EXPECT_EQ(result(ask(packed(rows(1, 2), gzip), "Content-Encoding: gzip\r\n").body),
            std::vector{9.0});
  EXPECT_EQ(result(ask(packed(rows(1, 2), wrapped), "Content-Encoding: deflate\r\n").body),
            std::vector{9.0});
  EXPECT_EQ(ask(rows(1, 2), "Content-Encoding: gzip\r\n").status, 400U);
  const RawAnswer unknown = ask(rows(1, 2), "Content-Encoding: br\r\n");
  EXPECT_EQ(unknown.status, 415U);
  EXPECT_EQ(unknown.header("accept-encoding"), "gzip, deflate");

  // The length of the JSON is that of the JSON, however it was sent.
  const std::string head = R"({"parameters":{"binary_data_output":true},"inputs":[{"name":"rows",)"
                           R"("shape":[1024,2],"datatype":"FP32",)"
                           R"("parameters":{"binary_data_size":8192}}]})";
  const RawAnswer binary = ask(packed(head + std::string(8192, '\0'), gzip),
                               "Content-Encoding: gzip\r\nAccept-Encoding: gzip\r\n"
                               "Inference-Header-Content-Length: " +
                                   std::to_string(head.size()) + "\r\n");
  ASSERT_EQ(binary.status, 200U) << binary.body;
  ASSERT_EQ(binary.header("content-encoding"), "gzip");
  const std::string whole = decoded(binary.body, Coding::gzip, 100'000);
  const std::size_t json_bytes = std::stoul(binary.header("inference-header-content-length"));
  EXPECT_EQ(whole.size(), json_bytes + 4096);
  EXPECT_EQ(nlohmann::json::parse(whole.substr(0, json_bytes))["model_name"], "line");

  const RawAnswer metrics =
      client.ask("GET /metrics HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
  EXPECT_EQ(metrics.header("content-encoding"), "gzip");
  EXPECT_NE(decoded(metrics.body, Coding::gzip, much).find("stoker_queue_depth"),
            std::string::npos);
  EXPECT_EQ(client.ask(get("/metrics")).header("content-encoding"), "");
}

TEST_F(HttpHouse, refuses_bodies_that_become_too_large) {
  const HttpService narrow{system, models, {.max_decoded_bytes = 1000}};
  EXPECT_EQ(narrow
                .answer({.method = "POST",
                         .target = "/v2/models/line/infer",
                         .content_encoding = "gzip",
                         .body = packed(rows(1, 2) + std::string(1000, ' '), gzip)})
                .get()
                ->status,
            413U);
}

}  // namespace
}  // namespace stoker::serve::http
