#include "stoker/api/serve/protocol/metadata.hpp"

#include "stoker/api/serve/protocol/datatype.hpp"
#include "stoker/api/serve/protocol/json_writer.hpp"

namespace stoker::serve::protocol {
namespace {

void append_member(std::string& json, std::string_view before, std::string_view value) {
  json += before;
  append_json_string(json, value);
}

void append_strings(std::string& json, std::span<const std::string> strings) {
  json += '[';
  for (const std::string& one : strings) {
    if (json.back() != '[') json += ',';
    append_json_string(json, one);
  }
  json += ']';
}

void append_tensors(std::string& json, const std::vector<onnx::ValueInfo>& values) {
  json += '[';
  for (const onnx::ValueInfo& value : values) {
    const onnx::ValueType* const tensor = tensor_of(value.type);
    if (tensor == nullptr || datatype_of(tensor->element).empty()) continue;
    append_member(json, json.back() == '[' ? R"({"name":)" : R"(,{"name":)", value.name);
    append_member(json, R"(,"datatype":)", datatype_of(tensor->element));
    json += R"(,"shape":)" + declared_shape(*tensor) + "}";
  }
  json += ']';
}

std::string_view text_of(bool truth) { return truth ? "true" : "false"; }

}  // namespace

std::string server_metadata(std::string_view name, std::string_view version,
                            std::span<const std::string> extensions) {
  std::string json;
  append_member(json, R"({"name":)", name);
  append_member(json, R"(,"version":)", version);
  json += R"(,"extensions":)";
  append_strings(json, extensions);
  return json + "}";
}

std::string model_metadata(std::string_view name, std::span<const std::string> versions,
                           std::string_view platform, const AnyModel& model) {
  std::string json;
  append_member(json, R"({"name":)", name);
  json += R"(,"versions":)";
  append_strings(json, versions);
  append_member(json, R"(,"platform":)", platform);
  json += R"(,"inputs":)";
  append_tensors(json, model.inputs());
  json += R"(,"outputs":)";
  append_tensors(json, model.outputs());
  return json + "}";
}

std::string health_body(bool live) {
  return std::string{R"({"live":)"}.append(text_of(live)).append("}");
}

std::string model_ready_body(std::string_view name, bool ready) {
  std::string json;
  append_member(json, R"({"name":)", name);
  return json.append(R"(,"ready":)").append(text_of(ready)).append("}");
}

std::string error_body(std::string_view text) {
  std::string json;
  append_member(json, R"({"error":)", text);
  return json + "}";
}

}  // namespace stoker::serve::protocol
