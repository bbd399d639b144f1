// The access log of `stoker serve`: it waits for no reader, and says what it has left out.
#include "stoker/api/command_line/serve/access_log.hpp"

#include <gtest/gtest.h>

#include <future>
#include <iostream>
#include <sstream>

#include "stoker/tests/actors/failing_allocation.hpp"

namespace stoker::command_line {
namespace {

/// Takes the first line only when it is let, or not at all if it fails.
class HeldOutput final : public std::stringbuf {
 public:
  std::promise<void> begun;
  std::promise<void> let;
  bool fails = false;

 private:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    if (!std::exchange(held_, true)) {
      begun.set_value();
      let.get_future().wait();
      if (fails) return 0;
    }
    return std::stringbuf::xsputn(text, size);
  }
  bool held_ = false;
};

class AccessLogs : public testing::Test {
 protected:
  ~AccessLogs() override { std::cerr.rdbuf(before_); }
  [[nodiscard]] bool ends_with(std::string_view text) const {
    return output.view().ends_with(text);
  }
  [[nodiscard]] bool contains(std::string_view text) const {
    return output.view().find(text) != std::string_view::npos;
  }
  HeldOutput output;

 private:
  std::streambuf* const before_ = std::cerr.rdbuf(&output);
};

TEST_F(AccessLogs, say_at_the_end_what_they_have_left_out) {
  {
    AccessLog log{"-", AccessLogFormat::text};
    log.add({.method = "GET", .target = "/first", .status = 200});
    output.begun.get_future().wait();
    for (int n = 0; n < 1003; ++n) log.add({.method = "GET", .target = "/n", .status = 200});
    output.let.set_value();
  }
  EXPECT_TRUE(contains("Z GET /first 200 0 bytes "));
  EXPECT_TRUE(ends_with("\nleft out 3 lines\n"));
}

TEST_F(AccessLogs, leave_out_lines_for_which_there_is_no_memory) {
  std::size_t left_out = 0;
  {
    AccessLog log{"-", AccessLogFormat::text};
    log.add({.method = "GET", .target = "/first", .status = 200});
    output.begun.get_future().wait();
    for (bool failed = true; failed; ++left_out) {
      const FailingAllocation failing{left_out};
      log.add({.method = "GET", .target = "/n", .status = 200});
      failed = failing.failed();
    }
    --left_out;  // the last one was added
    output.let.set_value();
  }
  EXPECT_GT(left_out, 0U);
  EXPECT_TRUE(contains("left out " + std::to_string(left_out) + " line"));
}

TEST_F(AccessLogs, show_connections_that_were_refused_before_a_request) {
  output.let.set_value();
  {
    AccessLog log{"-", AccessLogFormat::text};
    log.add({.status = 503});
  }
  EXPECT_TRUE(contains("Z - - 503 0 bytes "));
}

TEST_F(AccessLogs, go_on_when_lines_can_be_written_again) {
  output.fails = true;
  {
    AccessLog log{"-", AccessLogFormat::text};
    log.add({.method = "GET", .target = "/first", .status = 200});
    output.begun.get_future().wait();
    log.add({.method = "GET", .target = "/second", .status = 200});
    output.let.set_value();
  }
  EXPECT_FALSE(contains("/first"));
  EXPECT_TRUE(contains("Z GET /second 200 0 bytes "));
  EXPECT_TRUE(ends_with("\nleft out 1 line\n"));
}

TEST_F(AccessLogs, let_no_client_begin_a_line) {
  output.let.set_value();
  const HttpInference inference{.request_id = "a\nGET /forged 200", .model = "m", .version = "1"};
  {
    AccessLog log{"-", AccessLogFormat::text};
    log.add({.method = "POST", .target = "/n", .status = 200, .inference = &inference});
  }
  EXPECT_TRUE(ends_with(" model m 1 id a\\nGET /forged 200\n"));
}

}  // namespace
}  // namespace stoker::command_line
