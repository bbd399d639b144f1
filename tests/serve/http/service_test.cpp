// What a service answers: the protocol's documents, refusals with their status, inference within a host's own server.
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstring>

#include "stoker/runtime/observe/log.hpp"
#include "stoker/tests/serve/http_house.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
namespace http = boost::beast::http;

class AnsweredByHttp : public HttpHouse {
 protected:
  HttpAnswer ask(HttpQuestion question) const { return *service.answer(std::move(question)).get(); }
  HttpAnswer get(const std::string& target, const std::string& method = "GET") const {
    return ask({.method = method, .target = target});
  }
  HttpAnswer infer(const std::string& model, std::string body, HttpQuestion question = {}) const {
    question.method = "POST";
    question.target = "/v2/models/" + model + "/infer";
    question.body = std::move(body);
    return ask(std::move(question));
  }
  static json document(const HttpAnswer& answer) { return json::parse(answer.body); }
};

TEST_F(AnsweredByHttp, names_the_server_and_what_it_can) {
  for (const char* target : {"/v2", "/v2/"}) {
    const json server = document(get(target));
    EXPECT_EQ(server["name"], "stoker");
    EXPECT_EQ(server["extensions"],
              (json{"binary_tensor_data", "classification", "model_configuration", "statistics"}));
  }
}

TEST_F(AnsweredByHttp, describes_a_model) {
  for (const char* target : {"/v2/models/line", "/v2/models/line/versions/1"}) {
    const json model = document(get(target));
    EXPECT_EQ(model["name"], "line");
    EXPECT_EQ(model["versions"], json{"1"});
    EXPECT_EQ(model["platform"], "network_stoker");
    EXPECT_EQ(model["inputs"],
              json::parse(R"([{"name": "rows", "datatype": "FP32", "shape": [-1, 2]}])"));
  }
  const json config = document(get("/v2/models/line/config"));
  EXPECT_EQ(config["max_batch_size"], 32);
  EXPECT_EQ(config["input"],
            json::parse(R"([{"name": "rows", "data_type": "TYPE_FP32", "dims": [2]}])"));
}

TEST_F(AnsweredByHttp, shows_names_of_clients_on_one_line) {
  EXPECT_EQ(error_of(get("/v2/models/a%0Ab").body), "there is no model 'a\\x0ab'");
}

TEST_F(AnsweredByHttp, infers_in_json_and_in_binary) {
  const HttpAnswer answer = infer("line", rows(1, 2));
  EXPECT_EQ(answer.status, 200U);
  const json whole = document(answer);
  EXPECT_EQ(whole["model_name"], "line");
  EXPECT_EQ(whole["model_version"], "1");
  EXPECT_EQ(result(answer.body), std::vector{9.0});

  const std::string head =
      R"({"id":"x","parameters":{"binary_data_output":true},"inputs":[{"name":"rows",)"
      R"("shape":[1,2],"datatype":"FP32","parameters":{"binary_data_size":8}}]})";
  const float numbers[] = {1, 2};
  const std::string body = head + std::string{reinterpret_cast<const char*>(numbers), 8};
  const HttpAnswer binary = infer("line", body, {.json_bytes = std::to_string(head.size())});
  ASSERT_EQ(binary.status, 200U) << binary.body;
  EXPECT_EQ(binary.content_type, "application/octet-stream");
  const std::size_t json_bytes =
      std::stoul(std::string{binary.header("Inference-Header-Content-Length")});
  EXPECT_EQ(json::parse(binary.body.substr(0, json_bytes))["id"], "x");
  ASSERT_EQ(binary.body.size(), json_bytes + 4);
  float out = 0;
  std::memcpy(&out, binary.body.data() + json_bytes, 4);
  EXPECT_EQ(out, 9.0F);
}

TEST_F(AnsweredByHttp, infers_from_bodies_and_to_answers_that_are_large) {
  const std::int64_t count = 50'000;
  std::vector<double> numbers(static_cast<std::size_t>(2 * count));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i % 100);
  const json body{
      {"inputs",
       {{{"name", "rows"}, {"shape", {count, 2}}, {"datatype", "FP32"}, {"data", numbers}}}}};
  models->set("large", serve("large", {.batch_size = count}));
  const std::vector<double> out = result(infer("large", body.dump()).body);
  ASSERT_EQ(out.size(), static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i)
    ASSERT_EQ(out[i], 2 * numbers[2 * i] + 3 * numbers[2 * i + 1] + 1);
}

TEST_F(AnsweredByHttp, refuses_unknown_models_and_names_the_nearest) {
  const HttpAnswer answer = infer("lines", rows(1, 2));
  EXPECT_EQ(answer.status, 404U);
  EXPECT_EQ(error_of(answer.body), "there is no model 'lines'; did you mean 'line'?");
  EXPECT_EQ(get("/v2/models/l%69ne").status, 200U);
  const HttpAnswer version = get("/v2/models/line/versions/2/ready");
  EXPECT_EQ(version.status, 404U);
  EXPECT_EQ(error_of(version.body), "model 'line' has no version '2'; there is version '1'");
  EXPECT_EQ(get("/v2/elsewhere").status, 404U);
  EXPECT_EQ(get("no path").status, 400U);
}

TEST_F(AnsweredByHttp, refuses_other_methods_and_says_which_there_are) {
  const HttpAnswer answer = get("/v2/models/line/infer");
  EXPECT_EQ(answer.status, 405U);
  EXPECT_EQ(answer.header("Allow"), "POST");
  EXPECT_EQ(get("/v2/health/live", "DELETE").header("Allow"), "GET, HEAD");
}

TEST_F(AnsweredByHttp, refuses_what_is_wrong_with_a_body) {
  const HttpAnswer broken = infer("line", "{\"inputs\": [}");
  EXPECT_EQ(broken.status, 400U);
  EXPECT_NE(error_of(broken.body).find("column"), std::string::npos) << broken.body;
  EXPECT_EQ(infer("line", "").status, 400U);
  EXPECT_EQ(infer("line", R"({"inputs": []})").status, 400U);
  EXPECT_EQ(infer("line", R"({"e":)" + std::string(100, '[')).status, 400U) << "too deep";
  EXPECT_EQ(infer("line", rows(1, 2), {.json_bytes = "1e3"}).status, 400U);
  EXPECT_EQ(infer("line", rows(1, 2), {.json_bytes = "100000"}).status, 400U);
  EXPECT_EQ(infer("line", rows(1, 2), {.content_type = "text/plain"}).status, 415U);
  EXPECT_EQ(infer("line", rows(1, 2), {.content_encoding = "br"}).status, 415U);
  std::string other = rows(1, 2);
  other.replace(other.find("rows"), 4, "rovs");
  const HttpAnswer unknown = infer("line", other);
  EXPECT_EQ(unknown.status, 400U);
  EXPECT_NE(error_of(unknown.body).find("did you mean 'rows'?"), std::string::npos);
}

TEST_F(AnsweredByHttp, refuses_tensors_beyond_the_limit) {
  const HttpService narrow{system, models, {.max_tensor_bytes = 4}};
  EXPECT_EQ(narrow.answer({.method = "POST", .target = "/v2/models/line/infer", .body = rows(1, 2)})
                .get()
                ->status,
            413U);
}

TEST_F(AnsweredByHttp, says_when_to_come_again_if_too_many_wait) {
  models->set(
      "full",
      serve("full",
            {.batch_size = 9, .batch_timeout = 1h, .wait = BatchWait::full, .max_requests = 1}));
  const Future<HttpAnswerPtr> first =
      service.answer({.method = "POST", .target = "/v2/models/full/infer", .body = rows(1, 2)});
  const Serving full = *models->snapshot()->at("full").answering()->serving;
  while (full.status().get().queued == 0) std::this_thread::yield();
  const HttpAnswer refused = infer("full", rows(1, 2));
  EXPECT_EQ(refused.status, 503U);
  EXPECT_GE(std::stoi(std::string{refused.header("Retry-After")}), 1);
  first.cancel();
  EXPECT_EQ(first.get()->status, 499U);
}

TEST_F(AnsweredByHttp, answers_504_when_the_time_of_a_request_is_over) {
  std::string body = rows(1, 2);
  body.insert(1, R"("parameters":{"timeout":1},)");
  EXPECT_EQ(infer("held", body).status, 504U);
}

TEST_F(AnsweredByHttp, serves_requests_by_their_priority) {
  models->set("levels", serve("levels", {.batch_size = 2,
                                         .batch_timeout = 1h,
                                         .wait = BatchWait::full,
                                         .priorities = {{}, {}},
                                         .default_priority = 2}));
  const Serving levels = *models->snapshot()->at("levels").answering()->serving;
  // A batch that waits for its second row shows at which level the first one does.
  const auto level_of = [&](const std::string& priority) {
    std::string body = rows(1, 2);
    body.insert(1, R"("parameters":{"priority":)" + priority + "},");
    const Future<HttpAnswerPtr> one =
        service.answer({.method = "POST", .target = "/v2/models/levels/infer", .body = body});
    while (levels.status().get().queued == 0) std::this_thread::yield();
    const ServingStatus status = levels.status().get();
    one.cancel();
    while (levels.status().get().queued != 0) std::this_thread::yield();
    return status.levels[0].queued == 1 ? 1 : 2;
  };
  EXPECT_EQ(level_of("1"), 1);
  EXPECT_EQ(level_of("2"), 2);
  EXPECT_EQ(level_of("0"), 2) << "the default one";
  EXPECT_EQ(level_of("3"), 2) << "there are two";
  EXPECT_EQ(level_of("18446744073709551615"), 2);
  const json batching = document(get("/v2/models/levels/config"))["dynamic_batching"];
  EXPECT_EQ(batching["priority_levels"], 2);
  EXPECT_EQ(batching["default_priority_level"], 2);
}

TEST_F(AnsweredByHttp, keeps_what_a_failed_model_says_to_itself) {
  const AnyModel model = load_model(folder.write("picky.lua", R"(
    return {inputs = {{name = "x", shape = {1}}}, outputs = {"y"},
            predict = function(given) error("secret at /home/x") end})"),
                                    {.device = device});
  models->set("picky", start_serving(system.supervisor(), model, {.name = "picky"}));
  const LogCapture captured;
  const HttpAnswer answer =
      infer("picky", R"({"inputs":[{"name":"x","shape":[1],"datatype":"FP32","data":[1]}]})");
  EXPECT_EQ(answer.status, 500U);
  const std::string text = error_of(answer.body);
  EXPECT_EQ(text.find("secret"), std::string::npos);
  EXPECT_TRUE(text.starts_with("model 'picky' failed: script_error (request ")) << text;
}

TEST_F(AnsweredByHttp, says_what_is_wrong_with_inputs_if_only_the_model_finds_it) {
  const AnyModel model = load_model(folder.write("meets.lua", R"(
    return {inputs = {{name = "x", shape = {"n"}}, {name = "y", shape = {"m"}}}, outputs = {"z"},
            predict = function(given) return {z = given.x + given.y} end})"),
                                    {.device = device});
  models->set("meets", start_serving(system.supervisor(), model, {.name = "meets"}));
  const HttpAnswer answer =
      infer("meets", R"({"inputs":[{"name":"x","shape":[2],"datatype":"FP32","data":[1,2]},)"
                     R"({"name":"y","shape":[3],"datatype":"FP32","data":[1,2,3]}]})");
  EXPECT_EQ(answer.status, 400U);
  EXPECT_TRUE(error_of(answer.body)
                  .starts_with("model 'meets' does not take these inputs: shape_mismatch: "))
      << answer.body;
}

TEST_F(AnsweredByHttp, is_ready_when_all_of_its_models_are) {
  EXPECT_EQ(get("/v2/health/live").status, 200U);
  EXPECT_EQ(get("/v2/health/ready").status, 200U);
  models->announce("late");
  EXPECT_EQ(get("/v2/health/live").status, 200U);
  EXPECT_EQ(get("/v2/health/ready").status, 503U);
  EXPECT_EQ(get("/v2/models/line/ready").status, 200U);
  EXPECT_EQ(document(get("/v2/models/late/ready")), (json{{"name", "late"}, {"ready", false}}));
  EXPECT_EQ(error_of(infer("late", rows(1, 2)).body),
            "model 'late' is not ready: it is being loaded");
  models->set("late", serve("late", {}));
  EXPECT_EQ(get("/v2/health/ready").status, 200U);
  held.stop().get();
  EXPECT_EQ(get("/v2/models/held/ready").status, 503U);
  EXPECT_EQ(infer("held", rows(1, 2)).status, 503U);
  EXPECT_TRUE(models->remove("held"));
  EXPECT_EQ(get("/v2/models/held/ready").status, 404U);
  EXPECT_EQ(get("/v2/health/ready").status, 200U);
  service.drain();
  EXPECT_EQ(get("/v2/health/ready").status, 503U);
  EXPECT_EQ(infer("line", rows(1, 2)).status, 503U);
}

TEST_F(AnsweredByHttp, knows_each_name_once) {
  EXPECT_EQ(refusal_of([&] { models->announce("line"); }).code(), ErrorCode::already_exists);
  EXPECT_EQ(refusal_of([&] { models->announce(""); }).code(), ErrorCode::invalid_argument);
  EXPECT_FALSE(models->remove("nothing"));
}

TEST_F(AnsweredByHttp, answers_below_a_prefix) {
  const HttpService below{system, models, {.prefix = "/ml"}};
  EXPECT_TRUE(below.handles("/ml/v2/health/live"));
  EXPECT_FALSE(below.handles("/v2/health/live"));
  EXPECT_EQ(below.answer({.method = "GET", .target = "/ml/v2"}).get()->status, 200U);
  EXPECT_EQ(below.answer({.method = "GET", .target = "/v2"}).get()->status, 404U);
  EXPECT_EQ(refusal_of([&] {
              const HttpService bad{system, models, {.prefix = "ml/"}};
            }).code(),
            ErrorCode::invalid_argument);
}

TEST_F(AnsweredByHttp, answers_a_request_of_beast_on_the_executor_of_its_host) {
  http::request<http::string_body> request{http::verb::post, "/v2/models/line/infer", 11};
  request.set(http::field::content_type, "application/json");
  request.body() = rows(1, 2);
  boost::asio::io_context host;
  HttpResponse seen;
  service.async_answer(
      std::move(request),
      boost::asio::bind_executor(host.get_executor(),
                                 [&](const std::exception_ptr& failure, HttpResponse response) {
                                   EXPECT_FALSE(failure);
                                   seen = std::move(response);
                                 }));
  host.run();
  EXPECT_EQ(seen.result(), http::status::ok);
  EXPECT_EQ(result(seen.body().answer->body), std::vector{9.0});
  EXPECT_EQ(seen[http::field::content_length], std::to_string(seen.body().answer->body.size()));
}

TEST_F(AnsweredByHttp, takes_the_cancellation_of_its_host) {
  http::request<http::string_body> request{http::verb::post, "/v2/models/held/infer", 11};
  request.body() = rows(1, 2);
  boost::asio::io_context host;
  boost::asio::cancellation_signal signal;
  std::exception_ptr thrown;
  service.async_answer(
      std::move(request),
      boost::asio::bind_cancellation_slot(
          signal.slot(), boost::asio::bind_executor(
                             host.get_executor(), [&](const std::exception_ptr& failure,
                                                      const HttpResponse&) { thrown = failure; })));
  await_held(1);
  signal.emit(boost::asio::cancellation_type::terminal);
  host.run();
  EXPECT_TRUE(thrown);
  held.drain().get();
  EXPECT_EQ(held.status().get().totals.cancelled, 1U);
}

}  // namespace
}  // namespace stoker
