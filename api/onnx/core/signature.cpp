#include "stoker/api/onnx/core/signature.hpp"

namespace stoker::onnx {
namespace {

void describe(const Value& value, std::string& text) {
  if (value.is_tensor() || value.is_texts()) {
    const Shape& shape = value.shape();
    text += value.is_known() ? 'k' : value.is_texts() ? 't' : 'l';
    add_number(value.type(), text);
    add_number(shape.rank(), text);
    for (const std::int64_t extent : shape) add_number(extent, text);
    if (value.is_known()) text += as_key(value.known().bytes());
    if (value.is_texts())
      for (const std::string& one : value.texts().strings) {
        add_number(one.size(), text);
        text += one;
      }
  } else if (value.is_sequence()) {
    text += 's';
    add_number(value.elements().size(), text);
    for (const Value& one : value.elements()) describe(one, text);
  } else if (value.is_map()) {
    text += 'm';
    describe(value.keys(), text);
    describe(value.values(), text);
  } else if (value.is_optional()) {
    text += value.element() ? "o1" : "o0";
    if (value.element()) describe(*value.element(), text);
  } else {
    text += '-';
  }
}

}  // namespace

std::string as_key(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string signature_of(std::span<const Value> values) {
  std::string text;
  for (const Value& value : values) describe(value, text);
  return text;
}

}  // namespace stoker::onnx
