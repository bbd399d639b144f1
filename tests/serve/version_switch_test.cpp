// Versions of models that come and go while requests run.
#include "stoker/api/serve/models/version_switch.hpp"

#include <atomic>

#include "stoker/tests/serve/http_house.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using serve::StartedVersion;
using serve::VersionSource;
using serve::VersionSwitch;

class Versions : public HttpHouse {
 protected:
  /// y = n x, as version n; `options` of its serving.
  [[nodiscard]] VersionSource version(std::uint64_t n, ServingOptions options = {}) {
    options.name = "times " + std::to_string(n) + " #" + std::to_string(++started);
    return {.number = n, .content = std::to_string(n), .start = [this, n, options] {
              const auto model =
                  load_model(folder.write("times.lua", R"(
                        return {inputs = {{name = "x", shape = {"rows", 2}}}, outputs = {"y"},
                                predict = function(given) return {y = given.x * )" +
                                                           std::to_string(n) + R"(} end})"),
                             {.device = device});
              return StartedVersion{.serving = start_serving(system.supervisor(), model, options)};
            }};
  }
  [[nodiscard]] static VersionSource broken(std::uint64_t n) {
    return {.number = n, .content = "broken", .start = []() -> StartedVersion {
              throw Error{"test", ErrorCode::io_error, "the disk is gone"};
            }};
  }
  [[nodiscard]] ServedModel model(const std::string& name = "m") const {
    const auto snapshot = models->snapshot();
    const auto place = snapshot->find(name);
    return place == snapshot->end() ? ServedModel{} : place->second;
  }
  [[nodiscard]] std::string state_of(std::uint64_t n) const {
    const ServedModel now = model();
    const auto place = now.versions.find(n);
    return place == now.versions.end() ? "none" : std::string{to_string(place->second.state)};
  }
  void await_state(std::uint64_t n, const std::string& state) const {
    while (state_of(n) != state) std::this_thread::yield();
  }
  [[nodiscard]] Future<HttpAnswerPtr> ask(const std::string& path = "/v2/models/m") const {
    const json body{
        {"inputs",
         {{{"name", "x"}, {"shape", {2, 2}}, {"datatype", "FP32"}, {"data", {1, 2, 3, 4}}}}}};
    return service.answer({.method = "POST", .target = path + "/infer", .body = body.dump()});
  }
  [[nodiscard]] HttpAnswer get(const std::string& target) const {
    return *service.answer({.method = "GET", .target = target}).get();
  }
  /// The version that an answer names. Its numbers must be those of this version, all of them.
  static std::uint64_t version_of(const HttpAnswer& answer) {
    if (answer.status != 200) {
      ADD_FAILURE() << answer.status << ' ' << answer.body;
      return 0;
    }
    const std::uint64_t n =
        std::stoul(json::parse(answer.body)["model_version"].get<std::string>());
    const auto factor = static_cast<double>(n);
    EXPECT_EQ(result(answer.body), (std::vector{factor, 2 * factor, 3 * factor, 4 * factor}));
    return n;
  }

  VersionSwitch versions{system.shared_executor(), models};
  int started = 0;
};

TEST_F(Versions, are_chosen_by_the_path_or_are_the_highest_one) {
  versions.load("m", {version(2), version(10), version(9)});
  EXPECT_EQ(version_of(*ask().get()), 10U);
  EXPECT_EQ(version_of(*ask("/v2/models/m/versions/2").get()), 2U);
  EXPECT_EQ(json::parse(get("/v2/models/m").body)["versions"], (json{"2", "9", "10"}));
  const HttpAnswer unknown = *ask("/v2/models/m/versions/02").get();
  EXPECT_EQ(unknown.status, 404U);
  EXPECT_EQ(error_of(unknown.body),
            "model 'm' has no version '02'; there are versions '2', '9', '10'");
}

TEST_F(Versions, that_are_known_and_not_loaded_are_not_ready) {
  versions.know("m", {{.number = 1}, {.number = 2}}, "");
  EXPECT_EQ(get("/v2/models/m/ready").status, 503U);
  EXPECT_EQ(error_of(ask().get()->body), "model 'm' is not ready: it is not loaded");
  EXPECT_EQ(get("/v2/health/ready").status, 200U) << "nobody has asked for it";
  versions.load("m", {version(1), {.number = 2, .reason = "not now"}});
  EXPECT_EQ(ask("/v2/models/m/versions/2").get()->status, 503U);
  EXPECT_EQ(get("/v2/models/m/versions/2/ready").status, 503U);
  EXPECT_EQ(ask("/v2/models/m/versions/3").get()->status, 404U);
  EXPECT_EQ(model().versions.at(2).reason, "not now");
}

TEST_F(Versions, answer_what_they_have_before_they_go) {
  versions.load("m", {version(1, {.batch_size = 8, .batch_timeout = 1h, .wait = BatchWait::full})});
  const Serving first = *model().versions.at(1).serving;
  const Future<HttpAnswerPtr> waiting = ask();
  while (first.status().get().queued == 0) std::this_thread::yield();
  versions.load("m", {{.number = 1, .reason = "not now"}, version(2)});
  EXPECT_EQ(state_of(1), "UNLOADING");
  EXPECT_EQ(error_of(ask("/v2/models/m/versions/1").get()->body),
            "model 'm' is not ready: it is being unloaded");
  EXPECT_EQ(version_of(*ask().get()), 2U);
  EXPECT_FALSE(waiting.ready());
  first.with_timeout(0ns);
  EXPECT_EQ(version_of(*waiting.get()), 1U);
  await_state(1, "UNAVAILABLE");
  EXPECT_EQ(model().versions.at(1).reason, "unloaded");
  EXPECT_TRUE(first.status().wait().has_error()) << "it has ended";
}

TEST_F(Versions, that_fail_leave_those_that_are_there) {
  versions.load("m", {version(1)});
  EXPECT_EQ(refusal_of([&] { versions.load("m", {broken(2)}); }).code(), ErrorCode::io_error);
  EXPECT_EQ(version_of(*ask().get()), 1U);
  EXPECT_EQ(state_of(2), "UNAVAILABLE");
  EXPECT_EQ(model().versions.at(2).reason, "test: the disk is gone");
  static_cast<void>(refusal_of([&] { versions.load("m", {broken(1)}); }));
  EXPECT_EQ(state_of(1), "READY");
  EXPECT_EQ(model().versions.at(1).reason, "the last load failed: test: the disk is gone");
  static_cast<void>(refusal_of([&] { versions.load("m", {broken(1), version(3)}); }));
  EXPECT_EQ(version_of(*ask().get()), 3U) << "what could be loaded is there";
  versions.load("m", {version(1), version(3)});
  EXPECT_EQ(model().versions.at(1).reason, "");
}

TEST_F(Versions, of_the_same_content_stay_unless_they_have_ended) {
  versions.load("m", {version(1)});
  const auto use = model().versions.at(1).use;
  versions.load("m", {version(1)});
  EXPECT_EQ(model().versions.at(1).use, use);
  model().versions.at(1).serving->stop().get();
  EXPECT_EQ(ask().get()->status, 503U);
  versions.load("m", {version(1)});
  EXPECT_EQ(version_of(*ask().get()), 1U);
}

TEST_F(Versions, are_unloaded_and_forgotten) {
  versions.load("m", {version(1), version(2)});
  versions.unload("m", false);
  await_state(1, "UNAVAILABLE");
  await_state(2, "UNAVAILABLE");
  EXPECT_EQ(ask().get()->status, 503U);
  versions.load("m", {version(2)});
  EXPECT_EQ(state_of(1), "none");
  versions.load("m", {version(3)});
  await_state(2, "none");
  versions.unload("m", true);
  while (models->snapshot()->contains("m")) std::this_thread::yield();
  EXPECT_EQ(ask().get()->status, 404U);
}

TEST_F(Versions, change_under_load_without_a_failed_request) {
  versions.load("m", {version(1)});
  std::atomic<bool> ends{false};
  std::atomic<std::uint64_t> answered{0};
  std::vector<std::jthread> clients;
  for (int c = 0; c < 4; ++c)
    clients.emplace_back([&] {
      std::uint64_t last = 0;
      while (!ends) {
        std::vector<Future<HttpAnswerPtr>> several;
        for (int n = 0; n < 4; ++n) several.push_back(ask());
        for (const auto& each : several) {
          const std::uint64_t n = version_of(*each.get());
          EXPECT_GE(n + 1, last) << "only requests that ran together may differ";
          last = std::max(last, n);
          ++answered;
        }
      }
    });
  std::uint64_t seen = 0;
  for (std::uint64_t n = 2; n <= 100; ++n) {
    versions.load("m", {version(n)});
    while (answered < seen + 8) std::this_thread::yield();
    seen = answered;
  }
  ends = true;
  clients.clear();
  EXPECT_EQ(version_of(*ask().get()), 100U);
}

TEST_F(Versions, give_their_memory_back) {
  const auto network = [this](std::uint64_t n) {
    VersionSource source = version(n);
    source.content = std::to_string(++started);
    source.start = [this, name = "network " + std::to_string(started)] {
      const AnyModel loaded = load_model(folder.path / "line.safetensors", {.device = device});
      return StartedVersion{.serving = start_serving(system.supervisor(), loaded, {.name = name})};
    };
    return source;
  };
  const auto in_use = [this] { return device.stats().memory.in_use; };
  const std::uint64_t before = in_use();
  versions.load("m", {network(1)});
  const std::uint64_t loaded = in_use();
  ASSERT_GT(loaded, before);
  for (std::uint64_t n = 2; n <= 50; ++n) {
    versions.load("m", {network(n)});
    await_state(n - 1, "none");
    static_cast<void>(refusal_of([&] { versions.load("m", {broken(n)}); }));
  }
  while (in_use() > loaded) std::this_thread::yield();
  versions.unload("m", true);
  while (models->snapshot()->contains("m") || in_use() > before) std::this_thread::yield();
  EXPECT_EQ(in_use(), before);
}

}  // namespace
}  // namespace stoker
