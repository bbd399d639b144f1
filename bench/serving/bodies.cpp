// Bodies of the Open Inference Protocol: an image of 150,528 numbers in JSON, read and written by one core.
#include <nlohmann/json.hpp>
#include <random>

#include "stoker/api/serve/protocol/infer_request.hpp"
#include "stoker/api/serve/protocol/infer_response.hpp"
#include "stoker/api/serve/protocol/json_writer.hpp"
#include "stoker/api/system.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/bench/harness/allocation_count.hpp"
#include "stoker/bench/harness/groups.hpp"
#include "stoker/bench/serving/echo_backend.hpp"
#include "stoker/runtime/base/json_text.hpp"

namespace stoker::bench {
namespace {

using serve::protocol::InferRequest;

constexpr std::int64_t numbers = 150'528;  // 3 × 224 × 224

/// A request whose numbers `append` writes.
template <class Append> std::string body_of(Append&& append) {
  std::string body =
      R"({"inputs":[{"name":"image","shape":[1,3,224,224],"datatype":"FP32","data":[)";
  for (std::int64_t i = 0; i < numbers; ++i) {
    if (i > 0) body += ", ";
    append(body);
  }
  return body + "]}]}";
}

/// The same numbers by way of nlohmann's document.
void read_by_document(const std::string& body) {
  const nlohmann::json document = parse_json(body);
  const nlohmann::json& data = document.at("inputs").at(0).at("data");
  std::vector<float> elements;
  elements.reserve(data.size());
  for (const nlohmann::json& one : data) elements.push_back(one.get<float>());
  keep(elements);
}

void reading(Context& context, const AnyModel& model, const std::string& name,
             const std::string& body) {
  const auto bytes = std::as_bytes(std::span{body});
  const auto read = [&] { return serve::protocol::read_infer_request(bytes, std::nullopt, model); };
  const double megabytes = static_cast<double>(body.size()) * 1e-6;
  const Duel seconds = duel(
      context.repeats(100), [&] { return seconds_of([&] { keep(read()); }); },
      [&] { return seconds_of([&] { read_by_document(body); }); });
  const AllocationCount count;
  keep(read());
  context.report.add(Row{name, seconds.ours.rates(megabytes), "MB/s", Better::higher}
                         .against("nlohmann's document", seconds.peer.rates(megabytes))
                         .aim(200)
                         .remark(std::to_string(count.bytes()) + " bytes allocated for " +
                                 std::to_string(numbers * 4) + " bytes of numbers"));
}

}  // namespace

void serving_bodies(Context& context) {
  const System system;
  const AnyModel model{std::make_shared<const EchoBackend>(
      system.device("cpu"), "image",
      std::vector<onnx::Dimension>{{.extent = 1, .symbol = {}},
                                   {.extent = 3, .symbol = {}},
                                   {.extent = 224, .symbol = {}},
                                   {.extent = 224, .symbol = {}}})};
  std::mt19937 random{1};
  std::uniform_real_distribution<float> colours{-2.2F, 2.7F};
  const auto shortest = [&](std::string& body) {
    serve::protocol::append_json_number(body, colours(random));
  };
  // As Python's json writes the floats of an array.
  const auto as_doubles = [&](std::string& body) {
    serve::protocol::append_json_number(body, static_cast<double>(colours(random)));
  };
  const auto pixels = [&](std::string& body) {
    serve::protocol::append_json_number(body, random() % 256);
  };
  reading(context, model, "JSON of 150,528 floats, read", body_of(shortest));
  reading(context, model, "JSON of 150,528 floats of 17 digits, read", body_of(as_doubles));
  reading(context, model, "JSON of 150,528 pixels, read", body_of(pixels));

  const std::string body = body_of(shortest);
  const InferRequest request =
      serve::protocol::read_infer_request(std::as_bytes(std::span{body}), std::nullopt, model);
  std::size_t written = 0;
  const auto write = [&] {
    const auto response =
        serve::protocol::write_infer_response(request, {"image", "1"}, request.inputs);
    written = response.body.size();
    keep(response);
  };
  const std::vector<float> elements = request.inputs.at("image").tensor().to_vector<float>();
  const Duel seconds = duel(
      context.repeats(100), [&] { return seconds_of(write); },
      [&] { return seconds_of([&] { keep(write_json(nlohmann::json(elements))); }); });
  const double megabytes = static_cast<double>(written) * 1e-6;
  context.report.add(
      Row{"JSON of 150,528 floats, written", seconds.ours.rates(megabytes), "MB/s", Better::higher}
          .against("nlohmann's document", seconds.peer.rates(megabytes))
          .remark("the peer writes as many numbers"));
}

}  // namespace stoker::bench
