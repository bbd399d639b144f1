#include "stoker/pipeline/onnx/graph/value_type.hpp"

#include "stoker/pipeline/onnx/graph/shown.hpp"

namespace stoker::onnx {
namespace {

std::string text_of(const Dimension& dimension) {
  if (dimension.extent) return std::to_string(*dimension.extent);
  return dimension.symbol.empty() ? "?" : shown(dimension.symbol);
}

std::string tensor_text(const ValueType& type) {
  std::string text{to_string(type.element)};
  if (!type.dims) return text + "[...]";
  text += '[';
  for (std::size_t i = 0; i < type.dims->size(); ++i)
    text.append(i == 0 ? "" : ",").append(text_of((*type.dims)[i]));
  return text + ']';
}

}  // namespace

std::string ValueType::to_string() const {
  const auto within = [&] { return inner.empty() ? "unknown" : inner.front().to_string(); };
  switch (kind) {
    case ValueKind::tensor: return tensor_text(*this);
    case ValueKind::sparse_tensor: return "sparse(" + tensor_text(*this) + ')';
    case ValueKind::sequence: return "seq(" + within() + ')';
    case ValueKind::optional: return "optional(" + within() + ')';
    case ValueKind::map: {
      const std::string key{onnx::to_string(element)};
      return "map(" + key + ',' + within() + ')';
    }
    case ValueKind::opaque: return "opaque";
    case ValueKind::unknown: break;
  }
  return "unknown";
}

}  // namespace stoker::onnx
