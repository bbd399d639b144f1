// What a service tells those who watch it: metrics and statistics, against a load that the test knows.
#include <atomic>

#include "stoker/tests/runtime/observe/scrape.hpp"
#include "stoker/tests/serve/http_house.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using Labels = Scrape::Labels;

class WatchedOverHttp : public HttpHouse {
 protected:
  static HttpAnswer ask(const HttpService& from, const std::string& target) {
    return *from.answer({.method = "GET", .target = target}).get();
  }
  [[nodiscard]] HttpAnswer get(const std::string& target) const { return ask(service, target); }
  [[nodiscard]] Scrape metrics() const { return Scrape{get("/metrics").body}; }
  [[nodiscard]] Future<HttpAnswerPtr> infer(const std::string& model,
                                            const std::string& body) const {
    return service.answer(
        {.method = "POST", .target = "/v2/models/" + model + "/infer", .body = body});
  }
  static Labels of(const std::string& model, const Labels& more = {}) {
    Labels labels{{"model", model}, {"version", "1"}};
    labels.insert(more.begin(), more.end());
    return labels;
  }
  static json statistics(const HttpAnswer& answer) {
    return json::parse(answer.body).at("model_stats");
  }
};

TEST_F(WatchedOverHttp, counts_requests_batches_and_rows_by_model) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(infer("line", rows(1, 2)).get()->status, 200U);
  const Scrape seen = metrics();
  EXPECT_EQ(seen.value("stoker_requests_accepted_total", of("line")), 3);
  EXPECT_EQ(seen.value("stoker_requests_answered_total", of("line")), 3);
  EXPECT_EQ(seen.value("stoker_requests_answered_total", of("held")), 0);
  EXPECT_EQ(seen.value("stoker_rows_answered_total", of("line")), 3);
  EXPECT_EQ(seen.value("stoker_batches_total", of("line")), 3);
  EXPECT_EQ(seen.type("stoker_request_seconds"), "histogram");
  for (const char* times :
       {"stoker_request_seconds", "stoker_queue_seconds", "stoker_compute_input_seconds",
        "stoker_compute_infer_seconds", "stoker_compute_output_seconds"})
    EXPECT_EQ(seen.value(std::string{times} + "_count", of("line")), 3) << times;
  EXPECT_GT(seen.value("stoker_request_seconds_sum", of("line")), 0);
  EXPECT_EQ(seen.value("stoker_batch_rows_bucket", of("line", {{"le", "1"}})), 3);
  EXPECT_EQ(seen.value("stoker_batch_rows_sum", of("line")), 3);
  EXPECT_EQ(seen.value("stoker_worker_restarts_total", of("line")), 0);
  EXPECT_EQ(seen.value("stoker_plan_cuts_total", of("line")), 0);
}

TEST_F(WatchedOverHttp, shows_what_waits_by_level) {
  models->set("ranked", serve("ranked", {.batch_size = 9,
                                         .batch_timeout = 1h,
                                         .wait = BatchWait::full,
                                         .priorities = {{}, {.max_requests = 1}},
                                         .default_priority = 2}));
  const auto waiting = infer("ranked", rows(1, 2));
  const Serving ranked = *models->snapshot()->at("ranked").answering()->serving;
  while (ranked.status().get().queued == 0) std::this_thread::yield();
  EXPECT_EQ(infer("ranked", rows(1, 2)).get()->status, 503U);
  const Scrape seen = metrics();
  EXPECT_EQ(seen.value("stoker_queue_depth", of("ranked", {{"level", "1"}})), 0);
  EXPECT_EQ(seen.value("stoker_queue_depth", of("ranked", {{"level", "2"}})), 1);
  EXPECT_EQ(seen.value("stoker_queue_bytes", of("ranked")), 8);
  EXPECT_EQ(seen.value("stoker_requests_rejected_total", of("ranked", {{"reason", "level"}})), 1);
  EXPECT_EQ(seen.value("stoker_requests_rejected_total", of("ranked", {{"reason", "queue"}})), 0);
  ranked.with_timeout(0ns);
  EXPECT_EQ(waiting.get()->status, 200U);
}

TEST_F(WatchedOverHttp, counts_requests_without_a_result_by_reason) {
  std::string brief = rows(1, 2);
  brief.insert(1, R"("parameters":{"timeout":1},)");
  EXPECT_EQ(infer("held", brief).get()->status, 504U);
  const auto cancelled = infer("held", rows(1, 2));
  await_held(1);
  cancelled.cancel();
  EXPECT_EQ(cancelled.get()->status, 499U);
  await_held(0);
  const Scrape seen = metrics();
  EXPECT_EQ(seen.value("stoker_requests_expired_total", of("held", {{"reason", "deadline"}})), 1);
  EXPECT_EQ(seen.value("stoker_requests_expired_total", of("held", {{"reason", "level"}})), 0);
  EXPECT_EQ(seen.value("stoker_requests_cancelled_total", of("held", {{"reason", "caller"}})), 1);
  const AnyModel model = load_model(folder.write("picky.lua", R"(
    return {inputs = {{name = "x", shape = {1}}}, outputs = {"y"},
            predict = function(given) error("never") end})"),
                                    {.device = device});
  models->set("picky", start_serving(system.supervisor(), model, {.name = "picky"}));
  const std::string one = R"({"inputs":[{"name":"x","shape":[1],"datatype":"FP32","data":[1]}]})";
  EXPECT_EQ(infer("picky", one).get()->status, 500U);
  EXPECT_EQ(
      metrics().value("stoker_requests_failed_total", of("picky", {{"reason", "script_error"}})),
      1);
}

TEST_F(WatchedOverHttp, is_live_and_ready_while_it_is_busy) {
  std::atomic<bool> done{false};
  std::vector<std::jthread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      while (!done.load()) EXPECT_EQ(infer("line", rows(1, 2)).get()->status, 200U);
    });
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(get("/v2/health/ready").status, 200U);
    EXPECT_EQ(get("/v2/health/live").status, 200U);
  }
  done = true;
}

TEST_F(WatchedOverHttp, shows_devices_and_connections) {
  const std::uint16_t port = open();
  RawClient client{port};
  EXPECT_EQ(client.ask(stoker::get("/v2")).status, 200U);
  const Scrape seen{client.ask(stoker::get("/metrics")).body};
  EXPECT_EQ(seen.value("stoker_http_connections"), 1);
  EXPECT_EQ(seen.value("stoker_http_connections_total"), 1);
  EXPECT_EQ(seen.value("stoker_device_ready", {{"device", "cpu"}}), 1);
  EXPECT_GT(seen.value("stoker_device_memory_in_use_bytes", {{"device", "cpu"}}), 0);
  EXPECT_EQ(seen.value("stoker_device_losses_total", {{"device", "cpu"}}), 0);
  EXPECT_EQ(seen.type("stoker_kernels_compiled_total"), "counter");
}

TEST_F(WatchedOverHttp, has_tritons_names_only_if_it_is_asked_to) {
  EXPECT_EQ(infer("line", rows(1, 2)).get()->status, 200U);
  EXPECT_FALSE(metrics().has("nv_inference_request_success", of("line")));
  const HttpService both{system, models, {.triton_metrics = true}};
  const Scrape seen{ask(both, "/metrics").body};
  EXPECT_EQ(seen.value("nv_inference_request_success", of("line")), 1);
  EXPECT_EQ(seen.value("nv_inference_count", of("line")), 1);
  EXPECT_EQ(seen.value("nv_inference_exec_count", of("line")), 1);
  EXPECT_EQ(seen.value("nv_inference_pending_request_count", of("line")), 0);
  for (const char* reason : {"REJECTED", "CANCELED", "BACKEND", "OTHER"})
    EXPECT_EQ(seen.value("nv_inference_request_failure", of("line", {{"reason", reason}})), 0);
  double parts = 0;
  for (const char* part : {"queue", "compute_input", "compute_infer", "compute_output"})
    parts += seen.value("nv_inference_" + std::string{part} + "_duration_us", of("line"));
  // Each is rounded down.
  EXPECT_NEAR(seen.value("nv_inference_request_duration_us", of("line")), parts, 4);
  EXPECT_TRUE(seen.has("stoker_requests_answered_total", of("line")));
}

TEST_F(WatchedOverHttp, hides_its_metrics_if_it_is_asked_to) {
  const HttpService silent{system, models, {.metrics = false}};
  EXPECT_EQ(ask(silent, "/metrics").status, 404U);
}

TEST_F(WatchedOverHttp, has_statistics_as_triton_has_them) {
  const json before = statistics(get("/v2/models/line/stats"))[0];
  EXPECT_EQ(before["last_inference"], 0);
  EXPECT_EQ(before["batch_stats"], json::array());
  const auto first = infer("held", rows(1, 2));
  const auto second = infer("held", rows(3, 4));
  EXPECT_EQ(first.get()->status, 200U);
  EXPECT_EQ(second.get()->status, 200U);
  const json held = statistics(get("/v2/models/held/versions/1/stats"))[0];
  EXPECT_EQ(held["name"], "held");
  EXPECT_EQ(held["version"], "1");
  EXPECT_EQ(held["inference_count"], 2);
  EXPECT_EQ(held["execution_count"], 1);
  EXPECT_GT(held["last_inference"], 0);
  const json& each = held["inference_stats"];
  for (const char* step : {"success", "queue", "compute_input", "compute_infer", "compute_output"})
    EXPECT_EQ(each[step]["count"], 2) << step;
  EXPECT_EQ(each["success"]["ns"].get<std::int64_t>(),
            each["queue"]["ns"].get<std::int64_t>() +
                each["compute_input"]["ns"].get<std::int64_t>() +
                each["compute_infer"]["ns"].get<std::int64_t>() +
                each["compute_output"]["ns"].get<std::int64_t>());
  for (const char* none : {"fail", "cache_hit", "cache_miss"})
    EXPECT_EQ(each[none], (json{{"count", 0}, {"ns", 0}})) << none;
  ASSERT_EQ(held["batch_stats"].size(), 1U);
  const json& batch = held["batch_stats"][0];
  EXPECT_EQ(batch["batch_size"], 2);
  for (const char* step : {"compute_input", "compute_infer", "compute_output"}) {
    EXPECT_EQ(batch[step]["count"], 1) << step;
    EXPECT_GT(batch[step]["ns"], 0) << step;
  }
}

TEST_F(WatchedOverHttp, has_statistics_of_all_models) {
  const json all = statistics(get("/v2/models/stats"));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["name"], "held");
  EXPECT_EQ(all[1]["name"], "line");
  EXPECT_EQ(get("/v2/models/nothing/stats").status, 404U);
  EXPECT_EQ(get("/v2/models/line/versions/2/stats").status, 404U);
}

TEST_F(WatchedOverHttp, has_statistics_of_all_versions_of_a_model_unless_one_is_named) {
  models->update("line", [this](ServedModel& model) {
    model.versions[2] = ready_version(2, serve("second line", {}));
  });
  const json both = statistics(get("/v2/models/line/stats"));
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0]["version"], "1");
  EXPECT_EQ(both[1]["version"], "2");
  const json one = statistics(get("/v2/models/line/versions/1/stats"));
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0]["version"], "1");
}

TEST_F(WatchedOverHttp, counts_cancelled_requests_as_failed_ones) {
  const auto first = infer("held", rows(1, 2));
  await_held(1);
  first.cancel();
  await_held(0);
  const json fail = statistics(get("/v2/models/held/stats"))[0]["inference_stats"]["fail"];
  EXPECT_EQ(fail["count"], 1);
  EXPECT_GT(fail["ns"], 0);
}

}  // namespace
}  // namespace stoker
