#include "stoker/pipeline/onnx/reading/value_reader.hpp"

#include "stoker/pipeline/onnx/reading/tensor_reader.hpp"
#include "stoker/runtime/base/printable.hpp"

namespace stoker::onnx {
namespace {

/// SequenceProto.DataType and OptionalProto.DataType; the values of kind k stand in field k + 2.
constexpr std::uint64_t last_kind = 5;

ValueData read_kind(Reading& reading, Wire::Bytes message, ValueKind kind);

ValueData read_element(Reading& reading, Wire& wire) {
  switch (wire.number()) {
    case 4: {
      Initializer tensor = read_sparse_tensor(reading, wire.bytes());
      return {std::move(tensor.name), std::move(tensor.tensor)};
    }
    case 5: return read_kind(reading, wire.bytes(), ValueKind::sequence);
    case 6: return read_kind(reading, wire.bytes(), ValueKind::map);
    case 7: return read_kind(reading, wire.bytes(), ValueKind::optional);
    default: return read_kind(reading, wire.bytes(), ValueKind::tensor);
  }
}

/// A sequence's elements, or the one of an optional.
std::vector<ValueData> read_elements(Reading& reading, Wire::Bytes message, std::string& name,
                                     bool is_optional) {
  std::vector<ValueData> elements;
  std::uint64_t kind = 0;
  std::uint64_t seen = 0;
  bool mixed = false;
  for (Wire wire{message, reading.progress}; wire.next();) {
    const std::uint32_t field = wire.number();
    if (field == 1) name = reading.name(wire);
    if (field == 2) kind = wire.varint();
    if (field < 3 || field > last_kind + 2) continue;
    mixed = mixed || (seen != 0 && seen != field - 2);
    seen = field - 2;
    if (is_optional) elements.clear();  // given twice, the last one counts
    elements.push_back(read_element(reading, wire));
  }
  if (mixed || kind > last_kind || (seen != 0 && kind != 0 && kind != seen))
    reading.findings.add(is_optional ? "optional" : "sequence",
                         "its elements are not of the kind that it says");
  return elements;
}

MapValue read_map(Reading& reading, Wire::Bytes message, std::string& name) {
  MapValue map;
  std::string unused;
  for (Wire wire{message, reading.progress}; wire.next();) {
    switch (wire.number()) {
      case 1: name = reading.name(wire); break;
      case 3: {
        std::vector<std::int64_t> keys;
        wire.integers(keys);
        map.keys.insert(map.keys.end(), keys.begin(), keys.end());
        break;
      }
      case 4: map.keys.emplace_back(reading.name(wire)); break;
      case 5: map.values = read_elements(reading, wire.bytes(), unused, false); break;
      default: break;
    }
  }
  if (map.keys.size() != map.values.size())
    reading.findings.add("map", std::to_string(map.keys.size()) + " keys and " +
                                    std::to_string(map.values.size()) + " values");
  return map;
}

ValueData read_kind(Reading& reading, Wire::Bytes message, ValueKind kind) {
  const Deeper deeper{reading};
  reading.count_item();
  ValueData value;
  switch (kind) {
    case ValueKind::sequence:
      value.content = SequenceValue{read_elements(reading, message, value.name, false)};
      break;
    case ValueKind::optional:
      value.content = OptionalValue{read_elements(reading, message, value.name, true)};
      break;
    case ValueKind::map: value.content = read_map(reading, message, value.name); break;
    default: {
      Initializer tensor = read_tensor(reading, message);
      value = {std::move(tensor.name), std::move(tensor.tensor)};
    }
  }
  return value;
}

}  // namespace

Result<ValueData> read_value(std::span<const std::byte> bytes, ValueKind kind,
                             const ReadOptions& options, std::shared_ptr<const void> owner) {
  std::vector<std::filesystem::path> folders;
  if (!options.folder.empty()) folders.push_back(options.folder);
  Reading reading{
      {bytes, std::move(owner)}, printable(options.name), options.limits, std::move(folders)};
  ValueData value = read_kind(reading, bytes, kind);
  STOKER_TRY(reading.end());
  return value;
}

}  // namespace stoker::onnx
