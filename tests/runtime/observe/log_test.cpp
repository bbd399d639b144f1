#include "stoker/runtime/observe/log.hpp"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace stoker {
namespace {

TEST(Log, writes_fields_behind_the_message_and_quotes_where_needed) {
  const LogCapture capture;
  log_warn("device lost",
           {{"device", "vulkan:0"}, {"reason", "ran \"past\" its\ndeadline"}, {"empty", ""}});
  ASSERT_EQ(capture.lines().size(), 1U);
  EXPECT_EQ(
      capture.lines()[0],
      "warning device lost device=vulkan:0 reason=\"ran \\\"past\\\" its\\ndeadline\" empty=\"\"");
}

TEST(Log, shows_what_a_terminal_would_obey) {
  const LogCapture capture;
  log_warn("\033[2Jgone", {{"file", "\r\x7f"}});
  EXPECT_TRUE(capture.contains("\\x1b[2Jgone file=\\x0d\\x7f"));
}

TEST(Log, leaves_out_what_is_below_its_level) {
  const LogCapture capture{LogLevel::warn};
  EXPECT_FALSE(log_enabled(LogLevel::info));
  log_debug("quiet");
  log_info("quiet");
  log_warn("heard");
  log_error("heard");
  EXPECT_EQ(capture.lines().size(), 2U);
  EXPECT_FALSE(capture.contains("quiet"));
}

TEST(Log, a_capture_restores_level_and_sink) {
  const LogLevel before = log_level();
  { const LogCapture capture{LogLevel::trace}; }
  EXPECT_EQ(log_level(), before);
}

TEST(Log, is_an_ordinary_spdlog_logger) {
  const LogCapture capture;
  log().info("{} of {}", 1, 2);
  EXPECT_TRUE(capture.contains("info 1 of 2"));
  EXPECT_EQ(log().name(), "stoker");
}

TEST(Log, may_be_captured_while_others_log) {
  std::jthread writer{[](const std::stop_token& stop) {
    while (!stop.stop_requested()) log_debug("noise");
  }};
  for (int i = 0; i < 50; ++i) const LogCapture capture{LogLevel::warn};
}

TEST(Log, writes_a_hundred_lines_of_a_kind_and_counts_those_it_leaves_out) {
  using namespace std::chrono_literals;
  LineLimit limit;
  const LineLimit::time_point begin{1h};
  for (int i = 0; i < 100; ++i) EXPECT_EQ(limit.admit("lost", begin), 0U);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(limit.admit("lost", begin + 999ms), std::nullopt);
  EXPECT_EQ(limit.admit("another kind", begin), 0U);
  EXPECT_EQ(limit.admit("lost", begin + 1s), 1000U);
  EXPECT_EQ(limit.admit("lost", begin + 1s), std::nullopt);
  EXPECT_EQ(limit.admit("lost", begin + 2s), 1U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(limit.admit("lost", begin + 1h), 0U);
  EXPECT_EQ(limit.admit("lost", begin + 1h), std::nullopt);
}

TEST(Log, tells_a_bounded_number_of_kinds_apart) {
  LineLimit limit;
  const LineLimit::time_point begin{std::chrono::hours{1}};
  for (std::size_t i = 0; i < 10 * LineLimit::most_kinds; ++i)
    EXPECT_EQ(limit.admit("kind " + std::to_string(i), begin + std::chrono::nanoseconds{i}), 0U);
}

TEST(Log, is_not_filled_by_a_warning_that_comes_again_and_again) {
  const LogCapture capture;
  for (int i = 0; i < 10000; ++i) log_warn("the device is slow", {{"device", "cpu"}});
  for (int i = 0; i < 200; ++i) log_debug("asked for");
  // At most one more for each second that this takes.
  EXPECT_LT(capture.lines().size(), 1000U);
  EXPECT_GE(capture.lines().size(), 300U);
}

}  // namespace
}  // namespace stoker
