#include "stoker/api/serve/protocol/infer_response.hpp"

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "stoker/api/serve/protocol/binary_elements.hpp"
#include "stoker/api/serve/protocol/classification.hpp"
#include "stoker/api/serve/protocol/datatype.hpp"
#include "stoker/api/serve/protocol/json_writer.hpp"

namespace stoker::serve::protocol {
namespace {

/// Elements that the host reads, and what keeps their memory. It may be moved.
struct HostElements {
  TensorSpec spec = {};
  std::span<const std::byte> bytes = {};
  std::shared_ptr<const void> owner = {};
};

HostElements elements_of(const onnx::Value& value) {
  if (value.is_known()) {
    const auto known = std::make_shared<const onnx::Known>(value.known());
    return {known->spec(), known->bytes(), known};
  }
  const Buffer buffer = value.tensor().buffer();
  if (buffer.device().info().host_addressable) {
    HostView view = buffer.host_view();
    return {buffer.spec(), view.bytes, std::move(view.owner)};
  }
  const auto copied = std::make_shared<const std::vector<std::byte>>(buffer.read_bytes().get());
  return {buffer.spec(), *copied, copied};
}

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

/// The value of an output, or of an optional one that has a value; otherwise null.
const onnx::Value* value_in(const onnx::Value& output) {
  if (output.is_optional()) return output.element();
  return output.is_given() ? &output : nullptr;
}

bool is_expressible(const onnx::Value& value) {
  return value.is_texts() || (value.is_tensor() && !datatype_of(value.type()).empty());
}

/// A tensor that follows the JSON: numbers, or strings in their binary form.
struct Binary {
  HostElements elements = {};
  std::string strings = {};
};

class ResponseWriter {
 public:
  ResponseWriter(const InferRequest& request, const ClassLabels* labels) noexcept
      : request_{request}, labels_{labels} {}

  void begin(const ModelLabel& label) {
    append_key("{", "model_name", label.name);
    append_key(",", "model_version", label.version);
    if (!request_.id.empty()) append_key(",", "id", request_.id);
    json_ += R"(,"outputs":[)";
  }

  void add(const RequestedOutput& output, const onnx::Value& value) {
    if (value.is_texts()) {
      check_form(request_, output, onnx::ElementType::string);
      return add_strings(output, value.texts().shape, value.texts().strings);
    }
    check_form(request_, output, value.type());
    HostElements elements = elements_of(value);
    if (output.classification > 0) {
      const Classes classes =
          classes_of(elements.spec, elements.bytes, output.classification, labels_of(output.name));
      return add_strings(output, classes.shape, classes.strings);
    }
    begin_output(output.name, value.type(), elements.spec.shape);
    if (request_.is_binary(output)) {
      end_binary(elements.bytes.size());
      binary_.push_back({std::move(elements), {}});
      return;
    }
    json_ += R"("data":[)";
    append_elements(json_, value.type(), elements.bytes);
    json_ += "]}";
  }

  [[nodiscard]] InferResponse finish() && {
    json_ += "]}";
    InferResponse response;
    if (!binary_.empty()) response.json_bytes = json_.size();
    std::size_t size = json_.size();
    for (const Binary& one : binary_) size += one.elements.bytes.size() + one.strings.size();
    json_.reserve(size);
    for (const Binary& one : binary_) {
      const std::span<const std::byte> bytes = one.elements.bytes;
      json_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      json_ += one.strings;
    }
    response.body = std::move(json_);
    return response;
  }

 private:
  [[nodiscard]] std::span<const std::string> labels_of(const std::string& output) const {
    if (labels_ == nullptr) return {};
    const auto found = labels_->find(output);
    return found == labels_->end() ? std::span<const std::string>{} : found->second;
  }

  void append_key(std::string_view before, std::string_view key, std::string_view value) {
    json_ += before;
    append_json_string(json_, key);
    json_ += ':';
    append_json_string(json_, value);
  }

  void begin_output(std::string_view name, onnx::ElementType type, const Shape& shape) {
    append_key(has_outputs_ ? ",{" : "{", "name", name);
    append_key(",", "datatype", datatype_of(type));
    json_ += R"(,"shape":)" + shape.to_string() + ",";
    has_outputs_ = true;
  }

  void end_binary(std::size_t size) {
    json_ += R"("parameters":{"binary_data_size":)" + std::to_string(size) + "}}";
  }

  void add_strings(const RequestedOutput& output, const Shape& shape,
                   std::span<const std::string> strings) {
    begin_output(output.name, onnx::ElementType::string, shape);
    if (request_.is_binary(output)) {
      std::string& bytes = binary_.emplace_back().strings;
      append_binary_strings(bytes, strings);
      return end_binary(bytes.size());
    }
    json_ += R"("data":[)";
    for (std::size_t i = 0; i < strings.size(); ++i) {
      if (i > 0) json_ += ',';
      append_json_string(json_, strings[i]);
    }
    json_ += "]}";
  }

  const InferRequest& request_;
  const ClassLabels* const labels_;
  std::string json_;
  std::vector<Binary> binary_;
  bool has_outputs_ = false;
};

void add_named(ResponseWriter& writer, const RequestedOutput& output, const NamedValues& outputs) {
  const auto found = outputs.find(output.name);
  const onnx::Value* const value = found == outputs.end() ? nullptr : value_in(found->second);
  if (value == nullptr)
    refuse(ErrorCode::not_found, "the model has given no output " + in_quotes(output.name));
  if (!is_expressible(*value))
    refuse(ErrorCode::unsupported, "output " + in_quotes(output.name) + " is " +
                                       value->to_string() + ", which the protocol cannot express");
  writer.add(output, *value);
}

}  // namespace

InferResponse write_infer_response(const InferRequest& request, const ModelLabel& label,
                                   const NamedValues& outputs, const ClassLabels* labels) {
  ResponseWriter writer{request, labels};
  writer.begin(label);
  const auto add_if_expressible = [&](const RequestedOutput& output, const onnx::Value& held) {
    const onnx::Value* const value = value_in(held);
    if (value != nullptr && is_expressible(*value)) writer.add(output, *value);
  };
  if (request.outputs.empty())
    for (const auto& [name, value] : outputs) add_if_expressible({.name = name}, value);
  for (const RequestedOutput& output : request.outputs) {
    if (request.names_outputs) {
      add_named(writer, output, outputs);
    } else if (const auto found = outputs.find(output.name); found != outputs.end()) {
      add_if_expressible(output, found->second);
    }
  }
  return std::move(writer).finish();
}

}  // namespace stoker::serve::protocol
