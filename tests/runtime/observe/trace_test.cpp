#include "stoker/runtime/observe/trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

namespace stoker {
namespace {

using nlohmann::json;

json events_named(const TraceRecorder& recorder, const std::string& name) {
  json found = json::array();
  const json document = json::parse(recorder.to_json());
  for (const json& event : document["traceEvents"])
    if (event["name"] == name) found.push_back(event);
  return found;
}

TEST(Trace, records_nothing_while_it_is_off) {
  TraceRecorder recorder;
  recorder.span(0, "work", 1, 2);
  { const TraceSpan span{recorder, 0, "scope"}; }
  EXPECT_EQ(recorder.size(), 0U);
}

TEST(Trace, names_groups_and_lanes) {
  TraceRecorder recorder;
  const TrackId queue = recorder.track("queues", "compute");
  EXPECT_EQ(recorder.track("queues", "compute"), queue);
  EXPECT_NE(recorder.track("actors", "compute"), queue);
  const json lanes = events_named(recorder, "thread_name");
  const auto lane =
      std::find_if(lanes.begin(), lanes.end(), [&](const json& e) { return e["tid"] == queue; });
  ASSERT_NE(lane, lanes.end());
  EXPECT_EQ((*lane)["args"]["name"], "compute");
  EXPECT_EQ(events_named(recorder, "process_name").size(), 3U);
}

TEST(Trace, spans_instants_and_counters_keep_time_and_arguments) {
  TraceRecorder recorder;
  recorder.enable();
  const TrackId track = recorder.track("commands", "cpu");
  recorder.span(track, "blur", 5'000, 12'500, {{"id", "7"}});
  recorder.instant(track, "cancelled", 9'000);
  recorder.counter(track, "depth", 10'000, 2.5);
  const json span = events_named(recorder, "blur")[0];
  EXPECT_EQ(span["ph"], "X");
  EXPECT_DOUBLE_EQ(span["ts"].get<double>(), 0.0);
  EXPECT_DOUBLE_EQ(span["dur"].get<double>(), 7.5);
  EXPECT_EQ(span["args"]["id"], "7");
  EXPECT_DOUBLE_EQ(events_named(recorder, "cancelled")[0]["ts"].get<double>(), 4.0);
  EXPECT_DOUBLE_EQ(events_named(recorder, "depth")[0]["args"]["depth"].get<double>(), 2.5);
}

TEST(Trace, is_bounded_and_says_what_it_dropped) {
  TraceRecorder recorder{3};
  recorder.enable();
  for (int i = 0; i < 5; ++i) recorder.instant(0, "tick", 1);
  EXPECT_EQ(recorder.size(), 3U);
  EXPECT_EQ(recorder.dropped(), 2U);
}

TEST(Trace, takes_events_from_many_threads_while_it_is_written) {
  TraceRecorder first;
  TraceRecorder second;
  first.enable();
  second.enable();
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 200; ++i) {
          const TraceSpan span{first, 0, "one"};
          second.instant(0, "two", TraceRecorder::now_ns());
        }
      });
    static_cast<void>(first.to_json());
  }
  EXPECT_EQ(events_named(first, "one").size(), 800U);
  EXPECT_EQ(events_named(second, "two").size(), 800U);
}

TEST(Trace, is_written_to_a_file_or_says_why_not) {
  TraceRecorder recorder;
  const auto path = std::filesystem::temp_directory_path() / "stoker_trace_test.json";
  recorder.write_json(path.string());
  std::ifstream file{path};
  EXPECT_TRUE(json::accept(file));
  std::filesystem::remove(path);
  EXPECT_EQ(recorder.try_write_json("/nonexistent/trace.json").error().code(), ErrorCode::io_error);
}

}  // namespace
}  // namespace stoker
