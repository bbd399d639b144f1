#include "stoker/pipeline/onnx/reading/type_reader.hpp"

namespace stoker::onnx {
namespace {

Dimension read_dimension(Reading& reading, Wire::Bytes message) {
  Dimension dimension;
  for (Wire wire{message, reading.progress}; wire.next();) {
    if (wire.number() == 1) dimension = {wire.integer(), {}};
    if (wire.number() == 2) dimension = {{}, reading.name(wire)};
  }
  if (dimension.extent < 0) dimension.extent.reset();
  return dimension;
}

std::vector<Dimension> read_shape(Reading& reading, Wire::Bytes message) {
  std::vector<Dimension> dims;
  for (Wire wire{message, reading.progress}; wire.next();) {
    reading.count_item();
    if (wire.number() == 1) dims.push_back(read_dimension(reading, wire.bytes()));
  }
  return dims;
}

ElementType read_element(Reading& reading, Wire& wire) {
  const std::uint64_t number = wire.varint();
  if (number == 0) return ElementType::undefined;  // as if it were not said
  const auto type = element_type(number);
  if (!type) reading.findings.add("type", "no element type has number " + std::to_string(number));
  return type.value_or(ElementType::undefined);
}

/// Tensor, sparse tensor, sequence, optional: field 1 is what it is of, field 2 the shape or a map's value.
ValueType read_kind(Reading& reading, Wire::Bytes message, ValueKind kind) {
  ValueType type;
  type.kind = kind;
  const bool is_tensor = kind == ValueKind::tensor || kind == ValueKind::sparse_tensor;
  for (Wire wire{message, reading.progress}; wire.next();) {
    if (wire.number() == 1) {
      if (is_tensor || kind == ValueKind::map)
        type.element = read_element(reading, wire);
      else
        type.inner = {read_type(reading, wire.bytes())};
    } else if (wire.number() == 2) {
      if (is_tensor)
        type.dims = read_shape(reading, wire.bytes());
      else if (kind == ValueKind::map)
        type.inner = {read_type(reading, wire.bytes())};
    }
  }
  if (!is_tensor && type.inner.empty()) type.inner.emplace_back();
  return type;
}

}  // namespace

ValueType read_type(Reading& reading, Wire::Bytes message) {
  const Deeper deeper{reading};
  reading.count_item();
  ValueType type;
  for (Wire wire{message, reading.progress}; wire.next();) {
    switch (wire.number()) {
      case 1: type = read_kind(reading, wire.bytes(), ValueKind::tensor); break;
      case 4: type = read_kind(reading, wire.bytes(), ValueKind::sequence); break;
      case 5: type = read_kind(reading, wire.bytes(), ValueKind::map); break;
      case 7: type.kind = ValueKind::opaque; break;
      case 8: type = read_kind(reading, wire.bytes(), ValueKind::sparse_tensor); break;
      case 9: type = read_kind(reading, wire.bytes(), ValueKind::optional); break;
      default: break;
    }
  }
  return type;
}

ValueInfo read_value_info(Reading& reading, Wire::Bytes message) {
  const std::size_t before = reading.findings.size();
  reading.count_item();
  ValueInfo info;
  for (Wire wire{message, reading.progress}; wire.next();) {
    switch (wire.number()) {
      case 1: info.name = reading.name(wire); break;
      case 2: info.type = read_type(reading, wire.bytes()); break;
      case 3: info.doc = wire.text(); break;
      default: break;
    }
  }
  reading.findings.within(before, [&] { return "value " + in_quotes(info.name); });
  return info;
}

}  // namespace stoker::onnx
