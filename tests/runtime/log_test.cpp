#include "stoker/runtime/log.hpp"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

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

}  // namespace
}  // namespace stoker
