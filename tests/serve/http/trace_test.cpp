// What is noted of single requests: for an access log, and in the trace.
#include <algorithm>

#include "stoker/api/serve/http/request_watch.hpp"
#include "stoker/api/serve/http/trace_parent.hpp"
#include "stoker/tests/serve/http_house.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

const std::string trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string parent_id = "00f067aa0ba902b7";
const std::string traceparent = "00-" + trace_id + "-" + parent_id + "-01";

TEST(TraceParents, are_taken_on_as_the_recommendation_asks) {
  using serve::http::trace_parent_of;
  const auto parent = trace_parent_of(traceparent);
  ASSERT_TRUE(parent);
  EXPECT_EQ(parent->trace_id, trace_id);
  EXPECT_EQ(parent->parent_id, parent_id);
  EXPECT_TRUE(trace_parent_of("cc-" + traceparent.substr(3) + "-what-comes-later"));
  for (const std::string& bad :
       {std::string{}, traceparent.substr(1), traceparent + "-more", "ff" + traceparent.substr(2),
        "0G" + traceparent.substr(2), "00-" + std::string(32, '0') + "-" + parent_id + "-01",
        "00-" + trace_id + "-" + std::string(16, '0') + "-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-" + parent_id + "-01",
        "00-" + trace_id + "_" + parent_id + "-01", "cc-" + traceparent.substr(3) + "x",
        traceparent + ", " + traceparent})
    EXPECT_FALSE(trace_parent_of(bad)) << bad;
}

class NotedRequests : public HttpHouse {
 protected:
  [[nodiscard]] Future<HttpAnswerPtr> infer(const std::string& model,
                                            const std::string& body) const {
    return service.answer({.method = "POST",
                           .target = "/v2/models/" + model + "/infer",
                           .traceparent = traceparent,
                           .body = body});
  }
  static std::string with_id(std::string body, const std::string& id) {
    return body.insert(1, R"("id":")" + id + R"(",)");
  }
  /// The spans of that name in the lanes of requests, by their beginning.
  [[nodiscard]] std::vector<json> spans(const std::string& name) const {
    const json all = json::parse(system.trace().to_json());
    std::vector<json> found;
    for (const json& event : all.at("traceEvents"))
      if (event.value("name", "") == name && event.value("ph", "") == "X") found.push_back(event);
    std::ranges::sort(found, {}, [](const json& event) { return event.at("ts").get<double>(); });
    return found;
  }
  static double begin(const json& span) { return span.at("ts").get<double>(); }
  static double end(const json& span) { return begin(span) + span.at("dur").get<double>(); }
};

TEST_F(NotedRequests, tell_rows_batch_and_times) {
  const auto first = infer("held", with_id(rows(1, 2), "one"));
  const auto second = infer("held", with_id(rows(3, 4), "two"));
  for (const auto& [answer, id] : {std::pair{&first, "one"}, std::pair{&second, "two"}}) {
    const HttpAnswerPtr told = answer->get();
    ASSERT_TRUE(told->inference);
    EXPECT_EQ(told->inference->request_id, id);
    EXPECT_EQ(told->inference->model, "held");
    EXPECT_EQ(told->inference->version, "1");
    EXPECT_EQ(told->inference->trace_id, trace_id);
    EXPECT_EQ(told->inference->rows, 1);
    EXPECT_EQ(told->inference->batch_rows, 2);
    EXPECT_GT(told->inference->queue, 0ns);
    EXPECT_GT(told->inference->compute, 0ns);
  }
}

TEST_F(NotedRequests, tell_what_is_known_of_a_failure) {
  std::string late = with_id(rows(1, 2), "late");
  late.insert(1, R"("parameters":{"timeout":1},)");
  const HttpAnswerPtr expired = infer("held", late).get();
  EXPECT_EQ(expired->status, 504U);
  ASSERT_TRUE(expired->inference);
  EXPECT_EQ(expired->inference->request_id, "late");
  EXPECT_EQ(expired->inference->rows, 0);
  const HttpAnswerPtr malformed = infer("held", "{").get();
  ASSERT_TRUE(malformed->inference);
  EXPECT_EQ(malformed->inference->model, "held");
  EXPECT_EQ(malformed->inference->trace_id, trace_id);
  EXPECT_FALSE(service.answer({.method = "GET", .target = "/v2"}).get()->inference);
}

TEST_F(NotedRequests, are_traced_with_queue_batch_and_steps) {
  system.trace().enable();
  {
    const auto first = infer("held", with_id(rows(1, 2), "one"));
    const auto second = infer("held", with_id(rows(3, 4), "two"));
    EXPECT_EQ(first.get()->status, 200U);
    EXPECT_EQ(second.get()->status, 200U);
  }
  // A request is recorded when the last thread has let go of it.
  while (spans("held").size() < 2) std::this_thread::yield();
  system.trace().enable(false);
  const std::vector<json> requests = spans("held");
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_NE(requests[0].at("tid"), requests[1].at("tid"));
  for (const json& request : requests) {
    EXPECT_EQ(request["args"]["trace_id"], trace_id);
    EXPECT_EQ(request["args"]["parent_id"], parent_id);
    double last = begin(request);
    for (const char* step : {"read", "queue", "batch", "write"}) {
      std::vector<json> all = spans(step);
      std::erase_if(all, [&](const json& one) { return one.at("tid") != request.at("tid"); });
      ASSERT_EQ(all.size(), 1U) << step;
      EXPECT_GE(begin(all[0]), last - 0.001) << step;
      last = begin(all[0]);
    }
  }
  const std::vector<json> batches = spans("batch");
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(begin(batches[0]), begin(batches[1]));
  EXPECT_EQ(batches[0]["args"]["rows"], "2");
  for (const char* step : {"gather", "compute", "scatter"})
    for (const json& one : spans(step)) {
      EXPECT_GE(begin(one), begin(batches[0]) - 0.001) << step;
      EXPECT_LE(end(one), end(batches[0]) + 0.001) << step;
    }
}

TEST_F(NotedRequests, share_lanes_only_if_they_are_many) {
  serve::http::RequestLanes lanes{system.trace()};
  EXPECT_EQ(lanes.take(), 0U);
  EXPECT_EQ(lanes.take(), 1U);
  lanes.give_back(0);
  EXPECT_EQ(lanes.take(), 0U);
  for (unsigned lane = 2; lane < 63; ++lane) EXPECT_EQ(lanes.take(), lane);
  EXPECT_EQ(lanes.take(), 63U);
  EXPECT_EQ(lanes.take(), 63U);
}

}  // namespace
}  // namespace stoker
