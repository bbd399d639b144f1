// A directory of models that is served: loads, reloads and unloads, by a program and by clients.
#include "stoker/api/serve/repository/model_repository.hpp"

#include <sys/stat.h>

#include <atomic>

#include "stoker/tests/serve/http_house.hpp"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Repository : public HttpHouse {
 protected:
  void write(const std::string& path, const std::string& content) const {
    fs::create_directories((root / path).parent_path());
    std::ofstream{root / path, std::ios::binary} << content;
  }
  /// y = n x. Files of other numbers have other sizes: clocks of file systems tick slowly.
  void write_model(const std::string& name, int version, int n) const {
    write(name + "/" + std::to_string(version) + "/model.lua",
          R"(
      return {inputs = {{name = "x", shape = {"rows", 2}}}, outputs = {{name = "y", shape = {"rows", 2}}},
              predict = function(given) return {y = given.x * )" +
              std::to_string(n) + " } end}" + std::string(static_cast<std::size_t>(n), ' '));
  }
  /// The same, put into its place whole.
  void replace_model(const std::string& name, int version, int n) const {
    write_model(".new", version, n);
    fs::create_directories(root / name);
    const fs::path place = root / name / std::to_string(version);
    const fs::path old = root / ".old";
    fs::remove_all(old);
    if (fs::exists(place)) fs::rename(place, old);
    fs::rename(root / ".new" / std::to_string(version), place);
  }
  [[nodiscard]] HttpAnswer ask(const std::string& method, const std::string& target,
                               const std::string& body = "") const {
    return *controlled.answer({.method = method, .target = target, .is_local = true, .body = body})
                .get();
  }
  [[nodiscard]] HttpAnswer load(const std::string& name, const std::string& body = "") const {
    return ask("POST", "/v2/repository/models/" + name + "/load", body);
  }
  [[nodiscard]] HttpAnswer infer(const std::string& name, const std::string& more = "") const {
    return ask(
        "POST", "/v2/models/" + name + "/infer",
        R"({"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2]}])" + more + "}");
  }
  /// What the model multiplies by; 0: it does not answer.
  [[nodiscard]] double factor_of(const std::string& name) const {
    const HttpAnswer answer = infer(name);
    return answer.status == 200 ? result(answer.body).at(0) : 0;
  }
  [[nodiscard]] json index(const std::string& body = "") const {
    const HttpAnswer answer = ask("POST", "/v2/repository/index", body);
    EXPECT_EQ(answer.status, 200U) << answer.body;
    json ours = json::array();
    for (const json& entry : json::parse(answer.body))
      if (entry["name"] != "line" && entry["name"] != "held") ours.push_back(entry);
    return ours;
  }
  void await_unloaded(const std::string& name, std::uint64_t version) const {
    for (;;) {
      const auto snapshot = models->snapshot();
      const auto place = snapshot->find(name);
      if (place == snapshot->end() || !place->second.versions.contains(version) ||
          place->second.versions.at(version).state == ModelState::unavailable)
        return;
      std::this_thread::yield();
    }
  }

  const fs::path root = folder.path / "models";
  const bool made = fs::create_directories(root);
  std::shared_ptr<const ModelRepository> repository = std::make_shared<const ModelRepository>(
      system, models,
      ModelRepositoryOptions{
          .directory = root, .load = {.device = device}, .others = {"line", "held"}});
  HttpService controlled{system, models, {.repository = repository}};
};

TEST_F(Repository, is_listed_before_anything_is_loaded) {
  write_model("twice", 1, 2);
  write_model("twice", 7, 2);
  fs::create_directories(root / "twice" / "007");
  fs::create_directories(root / "twice" / "new");
  fs::create_directories(root / "empty");
  fs::create_directories(root / ".hidden" / "1");
  write("file", "no model");
  EXPECT_EQ(index(), json::parse(R"([
    {"name": "empty", "state": "UNAVAILABLE", "reason": "it has no version"},
    {"name": "twice", "version": "1", "state": "UNAVAILABLE", "reason": ""},
    {"name": "twice", "version": "7", "state": "UNAVAILABLE", "reason": ""}])"));
  EXPECT_EQ(index(R"({"ready": true})"), json::array());
  EXPECT_EQ(infer("twice").status, 503U);
  fs::remove_all(root / "twice");
  EXPECT_EQ(index().size(), 1U);
  EXPECT_EQ(infer("twice").status, 404U);
}

TEST_F(Repository, loads_and_unloads_for_clients) {
  write_model("m", 1, 2);
  write_model("m", 3, 5);
  const HttpAnswer loaded = load("m");
  EXPECT_EQ(loaded.status, 200U) << loaded.body;
  EXPECT_EQ(loaded.body, "");
  EXPECT_EQ(factor_of("m"), 5);
  EXPECT_EQ(ask("GET", "/v2/models/m/versions/1").status, 503U);
  EXPECT_EQ(index(R"({"ready": true})"),
            json::parse(R"([{"name": "m", "version": "3", "state": "READY", "reason": ""}])"));
  const json all = json::parse(ask("GET", "/v2/models").body);
  EXPECT_EQ(all[2], json::parse(R"({"name": "m", "version": "1", "state": "UNAVAILABLE"})"));
  const std::string unload = "/v2/repository/models/m/unload";
  EXPECT_EQ(ask("POST", unload, R"({"parameters": {"unload_dependents": true}})").body, "");
  EXPECT_EQ(infer("m").status, 503U);
  await_unloaded("m", 3);
  EXPECT_EQ(index().at(1)["reason"], "unloaded");
  EXPECT_EQ(load("m").status, 200U);
  EXPECT_EQ(factor_of("m"), 5);
}

TEST_F(Repository, is_listed_while_a_model_is_loaded) {
  write_model("m", 1, 2);
  write("m/config.pbtxt", R"(output { name: "y" label_filename: "labels" })");
  const fs::path labels = root / "m" / "labels";
  ASSERT_EQ(::mkfifo(labels.c_str(), 0600), 0);
  const Future<void> loading = repository->load("m");  // until somebody writes the labels
  for (bool begun = false; !begun; std::this_thread::yield()) {
    const auto all = models->snapshot();
    const auto place = all->find("m");
    begun = place != all->end() && place->second.is_loading();
  }
  EXPECT_EQ(index().at(0)["state"], "LOADING");
  std::ofstream{labels} << "small\n";
  EXPECT_TRUE(loading.wait().has_value());
  EXPECT_EQ(index().at(0)["state"], "READY");
}

TEST_F(Repository, forgets_a_model_that_went_before_it_was_loaded) {
  write_model("m", 1, 2);
  repository->look(ModelState::loading).get();
  EXPECT_EQ(ask("GET", "/v2/health/ready").status, 503U);
  fs::remove_all(root / "m");
  EXPECT_EQ(load("m").status, 404U);
  EXPECT_EQ(infer("m").status, 404U);
  EXPECT_EQ(ask("GET", "/v2/health/ready").status, 200U) << "nobody waits for it any more";
}

TEST_F(Repository, is_there_only_for_those_who_may_control_it) {
  EXPECT_TRUE(ask("GET", "/v2").body.find("model_repository") != std::string::npos);
  EXPECT_EQ(ask("GET", "/v2/repository/index").header("Allow"), "POST");
  for (const char* const path : {"index", "models/m/load", "models/m/unload"})
    EXPECT_EQ(service.answer({.method = "POST", .target = std::string{"/v2/repository/"} + path})
                  .get()
                  ->status,
              404U);
}

TEST_F(Repository, reads_nothing_that_it_does_not_list) {
  write_model("m", 1, 2);
  fs::create_directories(folder.path / "outside" / "1");
  for (const char* const name : {"..%2Foutside", "..%2foutside", "%2e%2e", ".", "..", "m%2F1",
                                 "m%00", "%2Ftmp", "M", "m/", "line", "held", ".new"}) {
    const HttpAnswer answer = load(name);
    EXPECT_EQ(answer.status, 404U) << name << ": " << answer.body;
  }
  EXPECT_EQ(error_of(load("n").body), "there is no model 'n' in the repository");
  EXPECT_EQ(ask("POST", "/v2/repository/models/n/unload").status, 404U);
  EXPECT_EQ(ask("POST", "/v2/repository/models/line/unload").status, 404U);
}

TEST_F(Repository, refuses_bodies_that_ask_for_more) {
  write_model("m", 1, 2);
  for (const char* const body :
       {"[]", "{", "1", R"({"parameters": {"config": "{}"}})",
        R"({"parameters": {"file:1/model.onnx": "AAAA"}})", R"({"parameters": 1})"})
    EXPECT_EQ(load("m", body).status, 400U) << body;
  EXPECT_EQ(ask("POST", "/v2/repository/index", R"({"ready": 1})").status, 400U);
  EXPECT_EQ(load("m", std::string(100'000, ' ')).status, 413U);
  EXPECT_EQ(index().at(0)["state"], "UNAVAILABLE");
}

TEST_F(Repository, keeps_what_answers_if_a_load_fails) {
  write_model("m", 1, 2);
  ASSERT_EQ(load("m").status, 200U);
  write("m/2/model.lua", "this is no script");
  const HttpAnswer failed = load("m");
  EXPECT_EQ(failed.status, 400U);
  EXPECT_TRUE(error_of(failed.body).starts_with("failed to load 'm': ")) << failed.body;
  EXPECT_EQ(factor_of("m"), 2);
  EXPECT_EQ(index().at(1)["state"], "UNAVAILABLE");
  EXPECT_NE(index().at(1)["reason"], "");
  write("m/config.json", R"({"max_batch_sise": 1})");
  EXPECT_NE(error_of(load("m").body).find("did you mean 'max_batch_size'?"), std::string::npos);
  EXPECT_EQ(factor_of("m"), 2);
  write("m/config.pbtxt", "");
  EXPECT_NE(error_of(load("m").body).find("both config.json and config.pbtxt"), std::string::npos);
  fs::remove(root / "m" / "config.json");
  fs::create_directories(root / "m" / "3");
  const HttpAnswer empty = load("m");
  EXPECT_EQ(empty.status, 400U) << "the model is there";
  EXPECT_NE(error_of(empty.body).find("version 3 has no model.onnx"), std::string::npos);
  write("m/3/model.onnx", "");
  write("m/3/model.lua", "");
  EXPECT_NE(error_of(load("m").body).find("more than one model"), std::string::npos);
  write("m/config.pbtxt", R"(default_model_filename: "model.safetensors")");
  EXPECT_NE(error_of(load("m").body).find("version 3 has no model.safetensors"), std::string::npos);
  write_model("m", 3, 4);
  write("m/config.pbtxt", R"(default_model_filename: "model.lua")");
  EXPECT_EQ(load("m").status, 200U) << "model.onnx is left alone";
  EXPECT_EQ(factor_of("m"), 4);
  write("m/config.pbtxt", "");
  fs::remove_all(root / "m" / "3");
  write_model("m", 2, 9);
  EXPECT_EQ(load("m").status, 200U);
  EXPECT_EQ(factor_of("m"), 9);
}

TEST_F(Repository, does_what_configurations_say) {
  write_model("m", 1, 2);
  write_model("m", 2, 3);
  write("m/labels.txt", "small\r\nlarge\n");
  write("m/config.pbtxt", R"(
    max_batch_size: 6
    input { name: "x" data_type: TYPE_FP32 dims: 2 }
    output { name: "y" label_filename: "labels.txt" }
    version_policy { all { } }
    dynamic_batching { preferred_batch_size: 4 }
    instance_group { kind: KIND_CPU count: 3 }
    model_warmup { batch_size: 2 inputs { key: "x" value { data_type: TYPE_FP32 dims: 2
                                                           random_data: true } } }
    model_warmup { batch_size: 5 inputs { key: "x" value { data_type: TYPE_FP32 dims: 2
                                                           zero_data: true } } })");
  ASSERT_EQ(load("m").body, "");
  const json config = json::parse(ask("GET", "/v2/models/m/versions/1/config").body);
  EXPECT_EQ(config["max_batch_size"], 6);
  EXPECT_EQ(config["dynamic_batching"]["preferred_batch_size"], json::array({4}));
  const ServedVersion version = models->snapshot()->at("m").versions.at(2);
  EXPECT_EQ(version.serving->status().get().workers, 3U);
  EXPECT_EQ(result(ask("POST", "/v2/models/m/versions/1/infer",
                       R"({"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2]}]})")
                       .body),
            (std::vector{2.0, 4.0}));
  const HttpAnswer classes =
      infer("m", R"(,"outputs":[{"name":"y","parameters":{"classification":1}}])");
  EXPECT_EQ(json::parse(classes.body)["outputs"][0]["data"], json{"6:1:large"}) << classes.body;
}

TEST_F(Repository, refuses_configurations_that_contradict_their_model) {
  write_model("m", 1, 2);
  const auto reason_of = [&](const std::string& config) {
    write("m/config.pbtxt", config);
    return error_of(load("m").body);
  };
  const auto says = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(says(reason_of("input { name: \"y\" }"), "the model has no input 'y'"));
  EXPECT_TRUE(says(reason_of("input { name: \"x\" data_type: TYPE_INT32 dims: [-1, 2] }"),
                   "has input 'x' as INT32 [-1,2], the model as FP32 [-1,2]"));
  EXPECT_TRUE(says(reason_of("max_batch_size: 2 input { name: \"x\" dims: 3 }"), "as [-1,3]"));
  EXPECT_TRUE(says(reason_of("input { name: \"x\" dims: 2 }"), "as [2]"));
  EXPECT_TRUE(says(reason_of("output { name: \"y\" label_filename: \"none.txt\" }"), "no labels"));
  EXPECT_TRUE(says(reason_of("version_policy { specific { versions: 4 } }"), "names version 4"));
  EXPECT_TRUE(says(reason_of("model_warmup { inputs { key: \"x\" value { data_type: TYPE_FP32 "
                             "dims: [1000000, 1000000, 1000000] } } }"),
                   "is too large"));
  EXPECT_TRUE(says(reason_of("instance_group { kind: KIND_GPU gpus: 77 }"), "vulkan:77"));
}

TEST_F(Repository, is_polled_for_models_that_are_whole) {
  write_model("m", 1, 2);
  repository->poll().get();
  EXPECT_EQ(factor_of("m"), 0) << "it may still be copied";
  repository->poll().get();
  EXPECT_EQ(factor_of("m"), 2);
  write_model("m", 2, 3);
  repository->poll().get();
  write("m/2/more", "of it");
  repository->poll().get();
  EXPECT_EQ(factor_of("m"), 2) << "it has changed since the last look";
  repository->poll().get();
  EXPECT_EQ(factor_of("m"), 3);
  replace_model("m", 2, 4);
  repository->poll().get();
  repository->poll().get();
  EXPECT_EQ(factor_of("m"), 4);
  write_model("m", 3, 5);
  write("m/3/model.lua", "broken");
  repository->poll().get();
  repository->poll().get();
  EXPECT_EQ(factor_of("m"), 4);
  fs::remove_all(root / "m");
  repository->poll().get();
  EXPECT_NE(models->snapshot()->at("m").answering(), nullptr) << "it may be put back";
  repository->poll().get();
  while (models->snapshot()->contains("m")) std::this_thread::yield();
  EXPECT_EQ(infer("m").status, 404U);
}

TEST_F(Repository, reloads_under_load_without_a_failed_request) {
  write_model("m", 1, 1);
  ASSERT_EQ(load("m").status, 200U);
  std::atomic<bool> ends{false};
  std::atomic<std::uint64_t> answered{0};
  std::vector<std::jthread> clients;
  for (int c = 0; c < 3; ++c)
    clients.emplace_back([&] {
      while (!ends) {
        const HttpAnswer answer = infer("m");
        ASSERT_EQ(answer.status, 200U) << answer.body;
        const std::vector<double> y = result(answer.body);
        ASSERT_EQ(y.at(1), 2 * y.at(0)) << "of one version";
        ++answered;
      }
    });
  std::uint64_t seen = 0;
  for (int n = 2; n <= 100; ++n) {
    write_model("m", 1, n);
    ASSERT_EQ(load("m").status, 200U);
    ASSERT_EQ(factor_of("m"), n) << "after the answer nobody gets the old one";
    while (answered < seen + 3) std::this_thread::yield();
    seen = answered;
  }
  ends = true;
  clients.clear();
  EXPECT_EQ(load("m").status, 200U);
}

}  // namespace
}  // namespace stoker
