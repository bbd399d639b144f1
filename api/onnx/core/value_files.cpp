#include "stoker/api/onnx/core/value_files.hpp"

namespace stoker::onnx {
namespace {

[[noreturn]] void refuse(const ValueData& data, const char* reason) {
  throw Error{"onnx", ErrorCode::unsupported, reason, {{"name", data.name}}};
}

Value keys_of(const ValueData& data, const MapValue& map) {
  std::vector<std::int64_t> integers;
  Texts texts{.shape = {static_cast<std::int64_t>(map.keys.size())}, .strings = {}};
  for (const auto& key : map.keys) {
    if (const auto* const text = std::get_if<std::string>(&key))
      texts.strings.push_back(*text);
    else
      integers.push_back(std::get<std::int64_t>(key));
  }
  if (!integers.empty() && !texts.strings.empty()) refuse(data, "a map with keys of two types");
  return texts.strings.empty() ? Value{Known::integers(integers)} : Value{std::move(texts)};
}

/// Single numbers or texts, as a vector.
Value values_of(const ValueData& data, const MapValue& map) {
  TensorData all{.type = ElementType::f32,
                 .dims = {static_cast<std::int64_t>(map.values.size())},
                 .bytes = {},
                 .strings = {}};
  std::vector<std::byte> bytes;
  for (const ValueData& value : map.values) {
    const auto* const tensor = std::get_if<TensorData>(&value.content);
    const bool is_first = &value == &map.values.front();
    if (tensor == nullptr || Shape::make(tensor->dims, "onnx").elements() != 1 ||
        !(is_first || tensor->type == all.type))
      refuse(data, "a map to anything but single numbers or texts of one type");
    all.type = tensor->type;
    all.strings.insert(all.strings.end(), tensor->strings.begin(), tensor->strings.end());
    const SharedBytes carried =
        tensor->type == ElementType::string ? SharedBytes{} : carried_bytes(*tensor);
    bytes.insert(bytes.end(), carried.view.begin(), carried.view.end());
  }
  const Shape shape{all.dims[0]};
  if (all.type == ElementType::string) return Texts{shape, std::move(all.strings)};
  return Known{all.type, shape, std::move(bytes)};
}

}  // namespace

Value value_of(const ValueData& data) {
  if (const auto* tensor = std::get_if<TensorData>(&data.content)) {
    if (tensor->type == ElementType::string)
      return Value{Texts{Shape::make(tensor->dims, "onnx"), tensor->strings}};
    return Value{Known{*tensor}};
  }
  if (const auto* list = std::get_if<SequenceValue>(&data.content)) {
    Values elements;
    for (const ValueData& one : list->elements) elements.push_back(value_of(one));
    return Value::sequence(std::move(elements));
  }
  if (const auto* option = std::get_if<OptionalValue>(&data.content))
    return option->element.empty() ? Value::no_element()
                                   : Value::optional(value_of(option->element.front()));
  const MapValue& map = std::get<MapValue>(data.content);
  return Value::map(keys_of(data, map), values_of(data, map));
}

namespace {

TensorData tensor_data(const Value& value) {
  const std::span<const std::int64_t> extents = value.shape().extents();
  TensorData data{
      .type = value.type(), .dims = {extents.begin(), extents.end()}, .bytes = {}, .strings = {}};
  if (value.is_texts())
    data.strings = value.texts().strings;
  else if (value.is_known())
    data.bytes = value.known().packed();
  else
    data.bytes = SharedBytes::own(packed_bytes(value.type(), value.tensor().to_bytes()));
  return data;
}

MapValue map_data(const Value& value) {
  MapValue map;
  const Value& keys = value.keys();
  const Value& values = value.values();
  if (keys.is_texts())
    map.keys.assign(keys.texts().strings.begin(), keys.texts().strings.end());
  else
    for (const std::int64_t key : keys.known().to_integers()) map.keys.emplace_back(key);
  for (std::int64_t i = 0; i < values.shape()[0]; ++i) {
    const Value one = values.is_texts()
                          ? Value{Texts{{}, {values.texts().strings[static_cast<std::size_t>(i)]}}}
                          : Value{values.known().taken({&i, 1}, Shape{})};
    map.values.push_back(data_of("", one));
  }
  return map;
}

}  // namespace

ValueData data_of(const std::string& name, const Value& value) {
  ValueData data{.name = name, .content = {}};
  if (value.is_tensor() || value.is_texts()) {
    data.content = tensor_data(value);
  } else if (value.is_sequence()) {
    SequenceValue list;
    for (const Value& one : value.elements()) list.elements.push_back(data_of("", one));
    data.content = std::move(list);
  } else if (value.is_map()) {
    data.content = map_data(value);
  } else {
    OptionalValue option;
    if (value.is_optional() && value.element() != nullptr)
      option.element.push_back(data_of("", *value.element()));
    data.content = std::move(option);
  }
  return data;
}

}  // namespace stoker::onnx
