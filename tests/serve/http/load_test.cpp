// Many clients at once, of mixed models, rows and forms: every answer is that of a direct run, none is lost.
#include <atomic>
#include <cstring>
#include <random>

#include "stoker/tests/serve/http_house.hpp"

namespace stoker {
namespace {

using nlohmann::json;

struct Asked {
  std::string model;
  bool binary = false;
  std::vector<float> numbers = {};  ///< two in a row
  std::string id = {};

  [[nodiscard]] std::string bytes() const {
    const std::size_t rows = numbers.size() / 2;
    json input{{"name", "rows"}, {"shape", {rows, 2}}, {"datatype", "FP32"}};
    json document{{"id", id}};
    std::string tail;
    if (binary) {
      tail.resize(numbers.size() * sizeof(float));
      std::memcpy(tail.data(), numbers.data(), tail.size());
      input["parameters"] = {{"binary_data_size", tail.size()}};
      document["parameters"] = {{"binary_data_output", true}};
    } else {
      input["data"] = numbers;
    }
    document["inputs"] = {input};
    const std::string head = document.dump();
    const std::string field =
        binary ? "Inference-Header-Content-Length: " + std::to_string(head.size()) + "\r\n" : "";
    return post("/v2/models/" + model + "/infer", head + tail, field);
  }
  /// Whether it is the answer to this request.
  [[nodiscard]] bool is_answered_by(const RawAnswer& answer) const {
    if (answer.status != 200) return false;
    const std::string length = answer.header("inference-header-content-length");
    if (binary == length.empty()) return false;
    const std::size_t head = binary ? std::stoul(length) : answer.body.size();
    const json document = json::parse(answer.body.substr(0, head), nullptr, false);
    if (document["id"] != id || document["model_name"] != model) return false;
    std::vector<float> out(numbers.size() / 2);
    if (binary) {
      if (answer.body.size() != head + out.size() * sizeof(float)) return false;
      std::memcpy(out.data(), answer.body.data() + head, out.size() * sizeof(float));
    } else {
      out = document["outputs"][0]["data"].get<std::vector<float>>();
    }
    std::vector<float> expected;
    expected.reserve(out.size());
    for (std::size_t i = 0; i < numbers.size(); i += 2)
      expected.push_back(2 * numbers[i] + 3 * numbers[i + 1] + 1);
    return out == expected;
  }
};

TEST_F(HttpHouse, gives_each_of_many_clients_what_a_direct_run_gives) {
  models->set("padded", serve("padded", {.batch_size = 16, .sizes = {4, 8}}));
  models->set("split", serve("split", {.batch_size = 2, .workers = 2}));
  const std::uint16_t port = open();
  constexpr int clients = 64;
  constexpr int requests = 20;
  std::atomic<int> right{0};
  {
    std::vector<std::jthread> threads_of_clients;
    threads_of_clients.reserve(clients);
    for (int c = 0; c < clients; ++c)
      threads_of_clients.emplace_back([&, c] {
        RawClient client{port};
        std::mt19937 random{static_cast<unsigned>(c)};
        for (int n = 0; n < requests; n += 4) {
          std::vector<Asked> ahead;  // sent together
          for (int i = 0; i < 4; ++i) {
            Asked& asked = ahead.emplace_back();
            asked.model = std::array{"line", "padded", "split"}.at(random() % 3);
            asked.binary = random() % 2 == 0;
            asked.id = std::to_string(c) + "." + std::to_string(n + i);
            asked.numbers.resize(2 * (1 + random() % 6));
            for (float& number : asked.numbers) number = static_cast<float>(random() % 100);
          }
          for (const Asked& asked : ahead) client.send(asked.bytes());
          for (const Asked& asked : ahead) right += asked.is_answered_by(client.receive()) ? 1 : 0;
        }
      });
  }
  EXPECT_EQ(right, clients * requests);
  std::uint64_t answered = 0;
  for (const auto& [name, model] : *models->snapshot())
    answered += model.answering()->serving->status().get().totals.answered;
  EXPECT_EQ(answered, static_cast<std::uint64_t>(clients * requests));
}

}  // namespace
}  // namespace stoker
