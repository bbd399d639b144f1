// Requests from bytes: the same however they are cut, and none that two readers could read in two ways.
#include "stoker/api/serve/http/server/request_reader.hpp"

#include <gtest/gtest.h>

#include "stoker/tests/actors/failing_allocation.hpp"

namespace stoker::serve::http {
namespace {

using Progress = RequestReader::Progress;

struct Reading {
  std::vector<HttpQuestion> questions;
  unsigned refused = 0;  ///< the status
  bool is_amid = false;
};

/// What comes of the bytes if they arrive in pieces of that size.
Reading read(std::string_view bytes, std::size_t piece, const HttpServerOptions& options = {}) {
  RequestReader reader{options};
  Reading reading;
  std::string waiting;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    waiting += bytes.substr(0, piece);
    for (Progress progress = Progress::head; progress != Progress::more;) {
      std::size_t used = 0;
      progress = reader.read(waiting, used);
      waiting.erase(0, used);
      if (progress == Progress::complete) reading.questions.push_back(reader.take());
      if (progress != Progress::refused) continue;
      reading.refused = reader.refused_with()->status;
      return reading;
    }
  }
  reading.is_amid = reader.is_amid(waiting.size());
  return reading;
}

/// The status with which it is refused, in one piece and in pieces of one byte; 0: it is not.
unsigned refusal_status(std::string_view bytes, const HttpServerOptions& options = {}) {
  const Reading whole = read(bytes, bytes.size(), options);
  const Reading cut = read(bytes, 1, options);
  EXPECT_EQ(whole.refused, cut.refused) << bytes;
  return whole.refused;
}

const std::string host = "POST /v2 HTTP/1.1\r\nHost: a\r\n";

TEST(RequestReader, gives_the_same_requests_in_pieces_of_any_size) {
  const std::string bytes =
      host +
      "Content-Type: application/json\r\nContent-Encoding: gzip\r\n"
      "inference-header-content-length: 3\r\nContent-Length: 5\r\n\r\nabcde"
      "\r\n" +
      host + "Transfer-Encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\n\r\n" +
      "GET /v2/health/live HTTP/1.0\r\n\r\n";
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}, bytes.size()}) {
    const Reading reading = read(bytes, piece);
    EXPECT_EQ(reading.refused, 0U);
    EXPECT_FALSE(reading.is_amid);
    ASSERT_EQ(reading.questions.size(), 3U) << piece;
    const HttpQuestion& first = reading.questions[0];
    EXPECT_EQ(first.method + " " + first.target, "POST /v2");
    EXPECT_EQ(first.content_type, "application/json");
    EXPECT_EQ(first.content_encoding, "gzip");
    EXPECT_EQ(first.json_bytes, "3");
    EXPECT_EQ(first.body, "abcde");
    EXPECT_EQ(reading.questions[1].body, "abcde");
    EXPECT_EQ(reading.questions[1].content_type, "") << "nothing is left of the first";
    EXPECT_EQ(reading.questions[2].target, "/v2/health/live");
  }
}

TEST(RequestReader, says_whether_a_request_is_under_way) {
  EXPECT_TRUE(read("GET", 3).is_amid);
  EXPECT_TRUE(read(host + "Content-Length: 2\r\n\r\na", 100).is_amid);
  EXPECT_FALSE(read("\r\n", 2).is_amid);
}

TEST(RequestReader, refuses_two_lengths_and_a_length_beside_an_encoding) {
  EXPECT_EQ(refusal_status(host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"), 400U);
  EXPECT_EQ(refusal_status(host + "Content-Length: 1\r\nContent-Length: 1\r\n\r\na"), 400U);
  EXPECT_EQ(refusal_status(host + "Content-Length: 1, 1\r\n\r\na"), 400U);
  EXPECT_EQ(
      refusal_status(host + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
      400U);
  EXPECT_EQ(
      refusal_status(host + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n"),
      400U);
}

TEST(RequestReader, refuses_lengths_that_are_no_numbers) {
  for (const char* length : {"-1", "+1", "1x", "0x1", "", "99999999999999999999", "1 1"})
    EXPECT_EQ(refusal_status(host + "Content-Length: " + length + "\r\n\r\na"), 400U) << length;
}

TEST(RequestReader, refuses_all_transfer_encodings_but_chunked) {
  for (const char* encoding :
       {"gzip", "gzip, chunked", "chunked, gzip", "identity", "chunked, chunked", "xchunked"})
    EXPECT_EQ(refusal_status(host + "Transfer-Encoding: " + encoding + "\r\n\r\n0\r\n\r\n"), 400U)
        << encoding;
  EXPECT_EQ(refusal_status(
                host + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            400U);
  EXPECT_EQ(refusal_status("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400U);
}

TEST(RequestReader, refuses_broken_and_folded_lines) {
  EXPECT_EQ(refusal_status("GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n"), 400U);
  EXPECT_EQ(refusal_status("GET / HTTP/1.1\nHost: a\n\n"), 400U);
  EXPECT_EQ(refusal_status("GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n"), 400U);
  EXPECT_EQ(refusal_status(std::string_view{"GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n", 29}), 400U);
  EXPECT_EQ(refusal_status("GET / HTTP/1.1\r\nHost : a\r\n\r\n"), 400U);
  EXPECT_EQ(refusal_status("\rGET / HTTP/1.1\r\nHost: a\r\n\r\n"), 400U);
}

TEST(RequestReader, refuses_a_request_without_one_host) {
  EXPECT_EQ(refusal_status("GET / HTTP/1.1\r\n\r\n"), 400U);
  EXPECT_EQ(refusal_status("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400U);
  EXPECT_EQ(refusal_status("GET / HTTP/1.0\r\n\r\n"), 0U);
}

TEST(RequestReader, refuses_broken_chunks) {
  const std::string chunked = host + "Transfer-Encoding: chunked\r\n\r\n";
  for (const char* body : {"x\r\n", "-1\r\na\r\n", "1\r\nab\r\n0\r\n\r\n", "fffffffffffffffff\r\na",
                           "1;\x01\r\na\r\n0\r\n\r\n"})
    EXPECT_EQ(refusal_status(chunked + body), 400U) << body;
}

TEST(RequestReader, refuses_broken_lines_of_chunks_and_trailers) {
  const std::string chunked = host + "Transfer-Encoding: chunked\r\n\r\n";
  for (const char* body :
       {"1;a=\"\n\"\r\na\r\n0\r\n\r\n", "1\r\na\r\n0;a=\"\n\"\r\n\r\n", "0\r\nA: b\r\n c\r\n\r\n",
        "0\r\nA: b\nC: d\r\n\r\n", "0\r\nA: b\rc\r\n\r\n"})
    EXPECT_EQ(refusal_status(chunked + body), 400U) << body;
  EXPECT_EQ(refusal_status(chunked + "1;a=\"b\"\r\na\r\n0;c\r\nA: b\r\nC: d\r\n\r\n"), 0U);
  EXPECT_EQ(refusal_status(chunked + "0\r\nA: " + std::string(300, 'a') + "\r\n\r\n",
                           {.header_bytes = 200}),
            400U);
}

TEST(RequestReader, reads_all_lines_of_a_field_that_says_what_the_body_is) {
  const Reading reading = read(host +
                                   "Content-Encoding: identity\r\nContent-Encoding: gzip\r\n"
                                   "Inference-Header-Content-Length: 1\r\n"
                                   "Inference-Header-Content-Length: 2\r\n\r\n",
                               1000);
  ASSERT_EQ(reading.questions.size(), 1U);
  EXPECT_EQ(reading.questions[0].content_encoding, "identity, gzip");
  EXPECT_EQ(reading.questions[0].json_bytes, "1, 2");
}

TEST(RequestReader, takes_no_field_from_behind_a_body) {
  const Reading reading = read(host +
                                   "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"
                                   "Inference-Header-Content-Length: 1\r\n\r\n",
                               1000);
  ASSERT_EQ(reading.questions.size(), 1U);
  EXPECT_EQ(reading.questions[0].json_bytes, "");
}

TEST(RequestReader, holds_heads_targets_and_bodies_to_their_limits) {
  const HttpServerOptions options{.header_bytes = 200, .target_bytes = 50, .body_bytes = 10};
  const std::string long_text(300, 'a');
  EXPECT_EQ(refusal_status(host + "X: " + long_text + "\r\n\r\n", options), 431U);
  EXPECT_EQ(refusal_status(host + "X: " + long_text, options), 431U) << "before its end";
  EXPECT_EQ(refusal_status("GET /" + long_text, options), 414U);
  EXPECT_EQ(
      refusal_status("GET /" + long_text.substr(0, 60) + " HTTP/1.1\r\nHost: a\r\n\r\n", options),
      414U);
  EXPECT_EQ(refusal_status(host + "Content-Length: 11\r\n\r\n", options), 413U)
      << "before the body";
  EXPECT_EQ(
      refusal_status(host + "Transfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n6\r\n", options),
      413U);
  EXPECT_EQ(refusal_status(host + "Content-Length: 10\r\n\r\n0123456789", options), 0U);
}

TEST(RequestReader, refuses_a_body_for_which_there_is_no_memory) {
  const HttpServerOptions options;
  const std::string head = host + "Content-Length: 100000\r\n\r\n";
  const std::string body(100'000, 'a');
  bool failed = true;
  std::size_t which = 0;
  for (; failed; ++which) {
    RequestReader reader{options};
    std::size_t used = 0;
    ASSERT_EQ(reader.read(head, used), Progress::head);
    const FailingAllocation failing{which};
    const Progress progress = reader.read(body, used);
    failed = failing.failed();
    ASSERT_EQ(progress, failed ? Progress::refused : Progress::complete);
    if (failed) {
      EXPECT_EQ(reader.refused_with()->status, 503U);
    }
  }
  EXPECT_GT(which, 1U);
}

TEST(RequestReader, refuses_other_versions_and_expectations) {
  EXPECT_EQ(refusal_status("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505U);
  EXPECT_EQ(refusal_status(host + "Expect: a cake\r\n\r\n"), 417U);
  EXPECT_EQ(refusal_status("no request at all\r\n\r\n"), 400U);
}

}  // namespace
}  // namespace stoker::serve::http
