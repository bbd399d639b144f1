#include "stoker/api/serve/protocol/infer_response.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "stoker/api/serve/protocol/answered_outputs.hpp"
#include "stoker/api/serve/protocol/binary_elements.hpp"
#include "stoker/api/serve/protocol/datatype.hpp"
#include "stoker/api/serve/protocol/json_writer.hpp"

namespace stoker::serve::protocol {
namespace {

template <class T> void append_numbers(std::string& json, std::span<const std::byte> bytes) {
  const std::size_t count = bytes.size() / sizeof(T);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) json += ',';
    T number;
    std::memcpy(&number, bytes.data() + i * sizeof(T), sizeof number);
    append_json_number(json, number);
  }
}

void append_booleans(std::string& json, std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) json += ',';
    json += bytes[i] == std::byte{0} ? "false" : "true";
  }
}

void append_elements(std::string& json, onnx::ElementType type, std::span<const std::byte> bytes) {
  switch (type) {
    case onnx::ElementType::boolean: return append_booleans(json, bytes);
    case onnx::ElementType::u8: return append_numbers<std::uint8_t>(json, bytes);
    case onnx::ElementType::u16: return append_numbers<std::uint16_t>(json, bytes);
    case onnx::ElementType::u32: return append_numbers<std::uint32_t>(json, bytes);
    case onnx::ElementType::u64: return append_numbers<std::uint64_t>(json, bytes);
    case onnx::ElementType::s8: return append_numbers<std::int8_t>(json, bytes);
    case onnx::ElementType::s16: return append_numbers<std::int16_t>(json, bytes);
    case onnx::ElementType::s32: return append_numbers<std::int32_t>(json, bytes);
    case onnx::ElementType::s64: return append_numbers<std::int64_t>(json, bytes);
    case onnx::ElementType::f64: return append_numbers<double>(json, bytes);
    default: return append_numbers<float>(json, bytes);
  }
}

class ResponseWriter {
 public:
  void begin(const InferRequest& request, const ModelLabel& label) {
    append_key("{", "model_name", label.name);
    append_key(",", "model_version", label.version);
    if (!request.id.empty()) append_key(",", "id", request.id);
    json_ += R"(,"outputs":[)";
  }

  void add(const AnsweredOutput& output) {
    append_key(has_outputs_ ? ",{" : "{", "name", output.name);
    append_key(",", "datatype", datatype_of(output.type));
    json_ += R"(,"shape":)" + output.shape.to_string() + ",";
    has_outputs_ = true;
    if (output.binary) return add_binary(output);
    json_ += R"("data":[)";
    if (output.type == onnx::ElementType::string)
      append_strings(output.strings);
    else
      append_elements(json_, output.type, output.elements);
    json_ += "]}";
  }

  [[nodiscard]] InferResponse finish() && {
    json_ += "]}";
    InferResponse response;
    if (!binary_.empty()) response.json_bytes = json_.size();
    std::size_t size = json_.size();
    for (const Binary& one : binary_) size += one.elements.size() + one.strings.size();
    json_.reserve(size);
    for (const Binary& one : binary_) {
      json_.append(reinterpret_cast<const char*>(one.elements.data()), one.elements.size());
      json_ += one.strings;
    }
    response.body = std::move(json_);
    return response;
  }

 private:
  /// A tensor that follows the JSON: numbers, or strings in their binary form.
  struct Binary {
    std::span<const std::byte> elements = {};
    std::string strings = {};
  };

  void add_binary(const AnsweredOutput& output) {
    Binary binary{.elements = output.elements};
    append_binary_strings(binary.strings, output.strings);
    json_ += R"("parameters":{"binary_data_size":)" +
             std::to_string(binary.elements.size() + binary.strings.size()) + "}}";
    binary_.push_back(std::move(binary));
  }

  void append_key(std::string_view before, std::string_view key, std::string_view value) {
    json_ += before;
    append_json_string(json_, key);
    json_ += ':';
    append_json_string(json_, value);
  }

  void append_strings(std::span<const std::string> strings) {
    for (std::size_t i = 0; i < strings.size(); ++i) {
      if (i > 0) json_ += ',';
      append_json_string(json_, strings[i]);
    }
  }

  std::string json_;
  std::vector<Binary> binary_;
  bool has_outputs_ = false;
};

}  // namespace

InferResponse write_infer_response(const InferRequest& request, const ModelLabel& label,
                                   const NamedValues& outputs, const ClassLabels* labels) {
  const std::vector<AnsweredOutput> answered = answered_outputs(request, outputs, labels);
  ResponseWriter writer;
  writer.begin(request, label);
  for (const AnsweredOutput& output : answered) writer.add(output);
  return std::move(writer).finish();
}

}  // namespace stoker::serve::protocol
