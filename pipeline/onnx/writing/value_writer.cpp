#include "stoker/pipeline/onnx/writing/value_writer.hpp"

namespace stoker::onnx {

using protobuf::WireWriter;
namespace {

/// SequenceProto.DataType and OptionalProto.DataType, in the order of ValueData's alternatives.
constexpr std::int64_t kinds[]{1, 3, 5, 4};

/// Field 2 says the kind of the values, which stand in field kind + 2.
void write_elements(WireWriter& message, const std::vector<ValueData>& values) {
  const std::int64_t kind = values.empty() ? kinds[0] : kinds[values.front().content.index()];
  message.integer(2, kind);
  for (const ValueData& value : values)
    message.message(static_cast<std::uint64_t>(kind) + 2, write_value(value));
}

struct Content {
  std::string_view name;

  WireWriter operator()(const TensorData& tensor) const { return write_tensor(name, tensor); }
  WireWriter operator()(const SequenceValue& list) const { return elements(list.elements); }
  WireWriter operator()(const OptionalValue& optional) const { return elements(optional.element); }
  WireWriter operator()(const MapValue& map) const {
    WireWriter message;
    message.bytes(1, name);
    const bool texts = !map.keys.empty() && map.keys.front().index() == 1;
    message.integer(2, static_cast<std::int64_t>(texts ? ElementType::string : ElementType::s64));
    for (const auto& key : map.keys) {
      if (const auto* const text = std::get_if<std::string>(&key))
        message.bytes(4, *text);
      else
        message.integer(3, std::get<std::int64_t>(key));
    }
    WireWriter values;
    write_elements(values, map.values);
    return message.message(5, values);
  }

 private:
  [[nodiscard]] WireWriter elements(const std::vector<ValueData>& values) const {
    WireWriter message;
    message.bytes(1, name);
    write_elements(message, values);
    return message;
  }
};

}  // namespace

WireWriter write_tensor(std::string_view name, const TensorData& tensor) {
  WireWriter message;
  message.packed(1, tensor.dims).integer(2, static_cast<std::int64_t>(tensor.type));
  for (const std::string& text : tensor.strings) message.bytes(6, text);
  message.bytes(8, name);
  if (tensor.type != ElementType::string) message.bytes(9, tensor.bytes.view);
  return message;
}

WireWriter write_value(const ValueData& value) {
  return std::visit(Content{value.name}, value.content);
}

}  // namespace stoker::onnx
