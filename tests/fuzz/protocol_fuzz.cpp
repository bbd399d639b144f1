// Bodies of inference requests. The first byte has flags, and with one of them the next two say how long the JSON is;
// the rest is the body. What is accepted is answered, in JSON and in binary.
#include <nlohmann/json.hpp>

#include "fuzz.hpp"
#include "stoker/api/serve/protocol/infer_request.hpp"
#include "stoker/api/serve/protocol/infer_response.hpp"
#include "stoker/runtime/base/json_text.hpp"
#include "stoker/tests/serve/declared_model.hpp"

namespace stoker::fuzz::protocol {
namespace {

using namespace serve::protocol;

const AnyModel& model() {
  static const AnyModel made = [] {
    const auto any = [](const char* name) {
      return tensor_info(name, ElementType::undefined, std::nullopt);
    };
    std::vector<onnx::ValueInfo> infos{any("optional"), any("optional b"),
                                       tensor_info("optional f", ElementType::f32, {{-1, 3}}),
                                       tensor_info("optional s", ElementType::string, {{2}})};
    return AnyModel{std::make_shared<const DeclaredModel>(device(), infos, infos)};
  }();
  return made;
}

void answer(InferRequest request, bool binary) {
  request.binary_outputs = binary;
  for (RequestedOutput& output : request.outputs) output.binary.reset();
  // A request may name outputs that it does not give; they are no outputs of this answer.
  request.names_outputs = false;
  const auto response = accepted([&] {
    return write_infer_response(request, {"m", "1"}, request.inputs);
  });
  if (!response) return;
  require(binary || !response->json_bytes, "binary tensors come only if they were asked for");
  const std::size_t json_bytes = response->json_bytes.value_or(response->body.size());
  require(json_bytes <= response->body.size(), "the header counts bytes of the body");
  const auto document = parse_json(std::string_view{response->body}.substr(0, json_bytes));
  require(document.is_object() && document.contains("outputs"), "an answer is JSON");
  std::size_t tensors = 0;
  for (const auto& output : document["outputs"])
    if (output.contains("parameters"))
      tensors += output["parameters"]["binary_data_size"].get<std::size_t>();
  require(json_bytes + tensors == response->body.size(), "the sizes of an answer add up");
}

}  // namespace

void run(Bytes bytes) {
  const DeviceScope scope{device()};
  Decisions decide{bytes};
  const std::uint8_t flags = decide.byte();
  std::optional<std::uint64_t> json_bytes;
  if ((flags & 1U) != 0) {
    const std::uint64_t high = decide.byte();
    json_bytes = high << 8U | decide.byte();
  }
  BodyLimits limits{.tensor_bytes = 1U << 20U};
  if ((flags & 2U) != 0) limits = {.tensor_bytes = 64, .nesting = 6, .id_bytes = 3};
  const Bytes body = decide.rest();
  const auto request =
      accepted([&] { return read_infer_request(body, json_bytes, model(), limits); });
  if (!request) return;
  require(request->id.size() <= limits.id_bytes, "an id keeps to its limit");
  std::uint64_t held = 0;
  for (const auto& [name, value] : request->inputs)
    if (value.is_texts())
      for (const std::string& one : value.texts().strings) held += one.size() + sizeof(one);
    else
      held += value.tensor().bytes();
  require(held <= limits.tensor_bytes, "tensors keep to their limit");
  answer(*request, false);
  answer(*request, true);
}

}  // namespace stoker::fuzz::protocol
